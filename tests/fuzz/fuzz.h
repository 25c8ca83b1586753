// What the fuzz targets share: bytes as files, and the one exception that bad input may raise.
//
// A target is one function, LLVMFuzzerTestOneInput(). What it may throw at itself is remora::Error;
// any other exception, a failed require(), a sanitizer's report, too much memory or time is a
// finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"

namespace remora::fuzz {

// True when `body` came to its end, false when it refused its input.
template <typename Body>
bool accepts(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (error.status() == Status::kInternal) throw;
    return false;
  }
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Lent bytes. `mapped` false: without view(), as a reader callback gives them.
class LentSource final : public io::ByteSource {
 public:
  LentSource(std::string name, std::string_view bytes, bool mapped)
      : ByteSource(std::move(name)), bytes_(bytes), mapped_(mapped) {}
  uint64_t size() const override { return bytes_.size(); }
  std::span<const std::byte> view() const override {
    return mapped_ ? std::as_bytes(std::span(bytes_)) : std::span<const std::byte>();
  }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(offset, dst.size());
    if (!dst.empty()) std::memcpy(dst.data(), bytes_.data() + offset, dst.size());
  }

 private:
  std::string_view bytes_;
  bool mapped_;
};

inline std::shared_ptr<const io::ByteSource> lent(std::string_view bytes, std::string name,
                                                  bool mapped = true) {
  return std::make_shared<LentSource>(std::move(name), bytes, mapped);
}

// A folder of lent files.
class LentFiles final : public io::FileSet {
 public:
  explicit LentFiles(std::map<std::string, std::string_view, std::less<>> files)
      : files_(std::move(files)) {}
  bool contains(std::string_view name) const override { return files_.contains(name); }
  std::shared_ptr<const io::ByteSource> open(std::string_view name) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) throw Error(Status::kIo, concat(name, ": no such file"));
    return lent(found->second, found->first);
  }
  std::string describe() const override { return "folder"; }
  std::string display_name(std::string_view name) const override { return std::string(name); }

 private:
  std::map<std::string, std::string_view, std::less<>> files_;
};

}  // namespace remora::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

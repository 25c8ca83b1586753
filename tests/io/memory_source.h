// Byte sources and file sets made from bytes, for tests.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"

namespace remora::test {

// Bytes in memory. Exactly as long as they are, on the heap, so that a sanitizer sees each read
// past the end. `mapped` false: a source without view(), as a reader callback gives.
class MemorySource final : public io::ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes, bool mapped = true)
      : ByteSource(std::move(name)),
        data_(std::make_unique<std::byte[]>(bytes.size())),
        size_(bytes.size()),
        mapped_(mapped) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  uint64_t size() const override { return size_; }
  std::span<const std::byte> view() const override {
    return mapped_ ? std::span<const std::byte>(data_.get(), size_) : std::span<const std::byte>();
  }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > size_ || dst.size() > size_ - offset) {
      throw Error(Status::kIo, concat(name(), ": read outside the source"));
    }
    if (!dst.empty()) std::memcpy(dst.data(), data_.get() + offset, dst.size());
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_;
  bool mapped_;
};

inline std::shared_ptr<const io::ByteSource> memory_source(std::string name, std::string_view bytes,
                                                           bool mapped = true) {
  return std::make_shared<MemorySource>(std::move(name), bytes, mapped);
}

// A folder that exists only here.
class MemoryFiles final : public io::FileSet {
 public:
  explicit MemoryFiles(std::map<std::string, std::string, std::less<>> files)
      : files_(std::move(files)) {}
  bool contains(std::string_view name) const override { return files_.contains(name); }
  std::shared_ptr<const io::ByteSource> open(std::string_view name) const override {
    const auto at = files_.find(name);
    if (at == files_.end()) throw Error(Status::kIo, concat(display_name(name), ": missing"));
    return memory_source(display_name(name), at->second);
  }
  std::string describe() const override { return "folder"; }
  std::string display_name(std::string_view name) const override { return concat("folder/", name); }

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

// What a call throws, as "STATUS: text", or "" when it throws nothing.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return concat(status_name(static_cast<int32_t>(error.status())), ": ", error.text());
  }
  return "";
}

}  // namespace remora::test

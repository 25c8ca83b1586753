// Checkpoint folders made of strings, and the two tiny reference folders.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"
#include "support/golden.h"
#include "text/tokenizer.h"

namespace remora::test {

class MemoryFile : public io::ByteSource {
 public:
  MemoryFile(std::string name, std::string bytes)
      : ByteSource(std::move(name)), bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    if (!dst.empty()) std::memcpy(dst.data(), bytes_.data() + offset, dst.size());
  }

 private:
  std::string bytes_;
};

class MemoryFiles : public io::FileSet {
 public:
  explicit MemoryFiles(std::map<std::string, std::string, std::less<>> files)
      : files_(std::move(files)) {}
  bool contains(std::string_view name) const override { return files_.find(name) != files_.end(); }
  std::shared_ptr<const io::ByteSource> open(std::string_view name) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) throw Error(Status::kIo, concat(name, ": no such file"));
    return std::make_shared<MemoryFile>(found->first, found->second);
  }
  std::string describe() const override { return "memory"; }
  std::string display_name(std::string_view name) const override { return std::string(name); }

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

// The tokenizer of tests/data/lm/<folder>.
inline std::unique_ptr<const text::Tokenizer> tiny_tokenizer(const std::string& folder) {
  return text::load_tokenizer(*io::open_directory(data_path("lm/" + folder)));
}

// The text of the Error that `action` throws; the test fails when it throws none or another status.
template <typename Action>
std::string error_of(Status status, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status)) << error.text();
    return error.text();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace remora::test

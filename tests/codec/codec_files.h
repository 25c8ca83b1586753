// The reference codec and files in memory, for the tests of this folder.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "codec/codec.h"
#include "io/byte_source.h"
#include "io/state_dict.h"

namespace remora::test {

// tests/data/codec loaded once, in float32.
std::shared_ptr<const codec::Codec> golden_codec();

// The tensors of tests/data/codec/codec.safetensors.
io::StateDict golden_tensors();

// A folder whose files are strings in memory.
class MemoryFiles final : public io::FileSet {
 public:
  void add(std::string name, std::string content) { files_[std::move(name)] = std::move(content); }
  // A file of tests/data/codec under another or the same name.
  void add_golden(std::string name, const std::string& golden);

  bool contains(std::string_view name) const override;
  std::shared_ptr<const io::ByteSource> open(std::string_view name) const override;
  std::string describe() const override { return "memory"; }
  std::string display_name(std::string_view name) const override { return std::string(name); }

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

// One named text or weight file in memory.
std::shared_ptr<const io::ByteSource> memory_source(std::string name, std::string content);

}  // namespace remora::test

#include "codec_files.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "io/checkpoint.h"
#include "support/golden.h"

namespace remora::test {
namespace {

class MemorySource final : public io::ByteSource {
 public:
  MemorySource(std::string name, std::string content)
      : ByteSource(std::move(name)), content_(std::move(content)) {}
  uint64_t size() const override { return content_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    std::memcpy(dst.data(), content_.data() + offset, dst.size());
  }
  std::span<const std::byte> view() const override {
    return std::as_bytes(std::span(content_.data(), content_.size()));
  }

 private:
  std::string content_;
};

}  // namespace

std::shared_ptr<const codec::Codec> golden_codec() {
  static const auto codec = codec::Codec::load(*io::open_directory(data_path("codec")), {});
  return codec;
}

io::StateDict golden_tensors() {
  return io::read_tensor_file(*io::open_directory(data_path("codec")), "codec.safetensors");
}

void MemoryFiles::add_golden(std::string name, const std::string& golden) {
  std::ifstream in(data_path("codec/" + golden), std::ios::binary);
  add(std::move(name), std::string(std::istreambuf_iterator<char>(in), {}));
}

bool MemoryFiles::contains(std::string_view name) const {
  return files_.find(name) != files_.end();
}

std::shared_ptr<const io::ByteSource> MemoryFiles::open(std::string_view name) const {
  return memory_source(std::string(name), files_.find(name)->second);
}

std::shared_ptr<const io::ByteSource> memory_source(std::string name, std::string content) {
  return std::make_shared<MemorySource>(std::move(name), std::move(content));
}

}  // namespace remora::test

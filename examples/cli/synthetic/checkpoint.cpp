#include "synthetic/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "failure.h"
#include "synthetic/codec_tensors.h"
#include "synthetic/configs.h"
#include "synthetic/length_circuit.h"
#include "synthetic/lm_tensors.h"
#include "synthetic/vocabulary.h"

namespace remora::cli {
namespace {

constexpr uint64_t kWriteChunk = 1 << 20;  // bytes

}  // namespace

SyntheticCheckpoint::SyntheticCheckpoint(const CheckpointShape& shape, uint64_t seed,
                                         Ending ending) {
  const Vocabulary vocabulary = make_vocabulary(shape.lm);
  std::vector<TensorSpec> lm = lm_tensors(shape.lm);
  if (ending == Ending::kByLength) add_length_circuit(shape.lm, vocabulary, lm);
  if (ending == Ending::kNever) remove_end(shape.lm, vocabulary, lm);
  images_.emplace("model.safetensors", SafetensorsImage(std::move(lm), seed));
  images_.emplace("codec.safetensors", SafetensorsImage(codec_tensors(shape.codec), seed));
  for (const auto& [name, image] : images_) files_[name].image = &image;

  files_["config.json"].text = lm_config_json(shape.lm, vocabulary);
  files_["codec.json"].text = codec_config_json(shape.codec);
  if (shape.lm.family == Family::kS2Pro) {
    files_["tokenizer.json"].text = tokenizer_json(vocabulary);
  } else {
    files_["tokenizer.tiktoken"].text = tiktoken_file(vocabulary);
    files_["special_tokens.json"].text = special_tokens_json(vocabulary);
  }
}

void SyntheticCheckpoint::File::read(uint64_t offset, std::span<std::byte> out) const {
  if (image != nullptr) {
    image->read(offset, out);
  } else {
    std::memcpy(out.data(), text.data() + offset, out.size());
  }
}

void SyntheticCheckpoint::write_to(const std::filesystem::path& folder, std::string_view without,
                                   const std::function<void(std::string_view)>& before) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Failure(kError, folder.string() + ": cannot create the folder (" + error.message() +
                              "); choose another place");
  }
  std::vector<std::byte> chunk(kWriteChunk);
  for (const auto& [name, file] : files_) {
    if (name == without) continue;
    if (before) before(name);
    const std::filesystem::path path = folder / name;
    const std::filesystem::path unfinished = path.string() + ".part";
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    for (uint64_t offset = 0; out && offset < file.size(); offset += chunk.size()) {
      const auto piece = std::span(chunk).first(std::min(kWriteChunk, file.size() - offset));
      file.read(offset, piece);
      out.write(reinterpret_cast<const char*>(piece.data()),
                static_cast<std::streamsize>(piece.size()));
    }
    out.close();
    if (out) std::filesystem::rename(unfinished, path, error);
    if (!out || error) {
      std::filesystem::remove(unfinished, error);
      throw Failure(kError, path.string() + ": cannot write; is there room and permission?");
    }
  }
}

remora_reader SyntheticCheckpoint::reader() const {
  remora_reader reader{};
  reader.struct_size = sizeof reader;
  reader.user = const_cast<SyntheticCheckpoint*>(this);  // the callbacks only read
  reader.open = open_file;
  reader.read_at = read_file;
  reader.close = close_file;
  return reader;
}

remora_status SyntheticCheckpoint::open_file(void* self, const char* name, void** file,
                                             uint64_t* size) {
  const auto& files = static_cast<const SyntheticCheckpoint*>(self)->files_;
  const auto found = files.find(std::string_view(name));
  if (found == files.end()) return REMORA_E_IO;
  *file = const_cast<File*>(&found->second);
  *size = found->second.size();
  return REMORA_OK;
}

int64_t SyntheticCheckpoint::read_file(void*, void* file, uint64_t offset, void* out, uint64_t n) {
  const auto& source = *static_cast<const File*>(file);
  if (offset > source.size() || n > source.size() - offset) return -1;
  try {
    source.read(offset, {static_cast<std::byte*>(out), n});
  } catch (const std::exception&) {
    return -1;  // out of memory: nothing may be thrown into the library
  }
  return static_cast<int64_t>(n);
}

void SyntheticCheckpoint::close_file(void*, void*) {}

}  // namespace remora::cli

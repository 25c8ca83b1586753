// A whole made-up checkpoint: its files by name, in memory as rules, or written to a folder.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "synthetic/safetensors_image.h"
#include "synthetic/shape.h"

namespace remora::cli {

// How speech comes to its end: never by itself, for measurements, or in time with the text's length
// (for shapes with few channels only). See length_circuit.h.
enum class Ending { kNever, kByLength };

// What make-tiny takes when no seed is given.
inline constexpr uint64_t kTinySeed = 1;

class SyntheticCheckpoint {
 public:
  SyntheticCheckpoint(const CheckpointShape& shape, uint64_t seed, Ending ending);
  SyntheticCheckpoint(const SyntheticCheckpoint&) = delete;
  SyntheticCheckpoint& operator=(const SyntheticCheckpoint&) = delete;

  // Creates the folder where needed and writes every file, each under its name only when complete.
  // Throws Failure naming the file that cannot be written. `without`: a file that is left out;
  // `before`, or null, is told each name before the file is made.
  void write_to(const std::filesystem::path& folder, std::string_view without = {},
                const std::function<void(std::string_view)>& before = {}) const;

  // Serves the files to the library. This object must outlive every model made from the reader.
  remora_reader reader() const;

 private:
  struct File {
    std::string text;
    const SafetensorsImage* image = nullptr;  // instead of text

    uint64_t size() const { return image != nullptr ? image->size() : text.size(); }
    void read(uint64_t offset, std::span<std::byte> out) const;
  };

  static remora_status REMORA_CALL open_file(void* self, const char* name, void** file,
                                             uint64_t* size);
  static int64_t REMORA_CALL read_file(void* self, void* file, uint64_t offset, void* out,
                                       uint64_t n);
  static void REMORA_CALL close_file(void* self, void* file);

  std::map<std::string, SafetensorsImage, std::less<>> images_;
  std::map<std::string, File, std::less<>> files_;
};

}  // namespace remora::cli

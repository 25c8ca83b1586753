// A checkpoint put together from several places: folders, files, memory, a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace remora::io {

// A host's own way to files. All three are needed; they may be called from any thread, one call at
// a time per file.
struct ReaderCallbacks {
  // The file's handle and size, or empty when there is no such file.
  struct Opened {
    void* file = nullptr;
    uint64_t size = 0;
  };
  std::function<std::optional<Opened>(const std::string& name)> open;
  // Fills `n` bytes at `dst` and returns n; anything else is a failure.
  std::function<int64_t(void* file, uint64_t offset, void* dst, uint64_t n)> read_at;
  std::function<void(void* file)> close;
};

// Looked up in this order: single files in the order they were added, folders, the reader.
// Not thread-safe while it is being filled; what open() returned stays valid without it.
class SourceSet final : public FileSet {
 public:
  // Throws Error{kIo} when it is no folder.
  void add_dir(const std::string& utf8_path);
  // Throws Error{kIo} when the file cannot be opened.
  void add_path(const std::string& name, const std::string& utf8_path);
  // Used in place. `release` is called once, when the last user is gone, and also when this throws.
  void add_memory(const std::string& name, const void* data, size_t size,
                  std::function<void()> release);
  void set_reader(ReaderCallbacks reader);

  bool contains(std::string_view name) const override;
  std::shared_ptr<const ByteSource> open(std::string_view name) const override;
  std::string describe() const override;
  std::string display_name(std::string_view name) const override;

 private:
  void add(const std::string& name, std::shared_ptr<const ByteSource> source);

  std::map<std::string, std::shared_ptr<const ByteSource>, std::less<>> files_;
  std::vector<std::shared_ptr<const FileSet>> folders_;
  std::shared_ptr<const ReaderCallbacks> reader_;
};

}  // namespace remora::io

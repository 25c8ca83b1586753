// A checkpoint put together from files, folders, memory, descriptors and a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/live_count.h"
#include "io/byte_source.h"

namespace remora::io {

// Tells the owner of lent memory that it is no longer used. `call` may be null.
struct MemoryRelease {
  void (*call)(void* user, const void* data, size_t size) = nullptr;
  void* user = nullptr;
};

// Files by callback. Statuses are those of Status as numbers. Calls may come from any thread that
// loads, one at a time per file; the callbacks must not throw.
struct Reader {
  void* user = nullptr;
  // Sets a handle and the size in bytes; 0, or kIo when there is no such file.
  int32_t (*open)(void* user, const char* name, void** file, uint64_t* size) = nullptr;
  // Reads exactly `n` bytes and returns n; anything else is an error.
  int64_t (*read_at)(void* user, void* file, uint64_t offset, void* dst, uint64_t n) = nullptr;
  void (*close)(void* user, void* file) = nullptr;  // may be null
};

// A name is looked for among the single files first, then in the folders in the order they were
// added, then asked of the reader. Sources that were opened stay valid when the set is gone.
// Not for use from two threads at once while files are being added.
class SourceSet final : public FileSet, public LiveCount<SourceSet> {
 public:
  // All of these throw Error{kInvalidArgument} for a name that is_inside_name() refuses or that
  // was added before as a single file, and kIo naming the file that cannot be opened.
  void add_path(std::string_view name, const std::string& utf8_path);
  // Used in place, not copied. `release` is called exactly once: when the last user of the memory
  // is gone, or before this throws.
  void add_memory(std::string_view name, const void* data, size_t size, MemoryRelease release);
  // `size` bytes at `offset` of a descriptor, which is duplicated.
  void add_fd(std::string_view name, int fd, uint64_t offset, uint64_t size);
  void add_dir(const std::string& utf8_path);
  // The codec of another folder: codec.safetensors or codec.pth, described by codec.json or, where
  // that is absent, by a config.json that has a codec's fields (then seen here as codec.json). A
  // codec in the folders of add_dir() or of the reader is not seen any more. Throws kIo where there
  // is no codec.
  void add_codec_dir(const std::string& utf8_path);
  // Takes the place of an earlier one. Throws Error{kInvalidArgument} without open and read_at.
  void set_reader(const Reader& reader);

  bool contains(std::string_view name) const override;
  std::shared_ptr<const ByteSource> open(std::string_view name) const override;
  std::string describe() const override;
  std::string display_name(std::string_view name) const override;

 private:
  void check_new_name(std::string_view name) const;
  // The folder that has `name`, and under which name; null where none has.
  const FileSet* folder_of(std::string_view name, std::string& name_there) const;
  bool asks_reader(std::string_view name) const;

  std::map<std::string, std::shared_ptr<const ByteSource>, std::less<>> files_;
  std::vector<std::shared_ptr<const FileSet>> folders_;
  std::shared_ptr<const FileSet> codec_folder_;  // or null
  std::string codec_config_;                     // its name for codec.json
  Reader reader_;
};

}  // namespace remora::io

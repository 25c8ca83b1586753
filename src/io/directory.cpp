// Folders and files on disk.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"
#include "io/file_source.h"
#include "io/quote.h"

namespace remora::io {
namespace {

class Directory final : public FileSet {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}

  bool contains(std::string_view name) const override {
    struct stat info {};
    return is_inside_name(name) && ::stat(display_name(name).c_str(), &info) == 0 &&
           S_ISREG(info.st_mode);
  }
  std::shared_ptr<const ByteSource> open(std::string_view name) const override {
    if (!is_inside_name(name)) {
      throw Error(Status::kFormat,
                  concat(path_, ": file name '", printable(name), "' points outside the folder"));
    }
    return open_file(display_name(name));
  }
  std::string describe() const override { return path_; }
  std::string display_name(std::string_view name) const override {
    return path_.ends_with('/') ? concat(path_, name) : concat(path_, "/", name);
  }

 private:
  std::string path_;
};

}  // namespace

std::shared_ptr<const ByteSource> open_file(const std::string& utf8_path) {
  // Non-blocking: a pipe without a writer must be refused below, not waited for.
  Descriptor fd(::open(utf8_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw_errno(utf8_path, "open", errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno(utf8_path, "read its size", errno);
  const uint64_t size = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
  return open_range(std::move(fd), utf8_path, 0, size);
}

std::shared_ptr<const FileSet> open_directory(const std::string& utf8_path) {
  struct stat info {};
  if (::stat(utf8_path.c_str(), &info) != 0) throw_errno(utf8_path, "open the model folder", errno);
  if (!S_ISDIR(info.st_mode)) {
    throw Error(Status::kIo, concat(utf8_path, ": not a folder; give the checkpoint's folder"));
  }
  return std::make_shared<Directory>(utf8_path);
}

}  // namespace remora::io

// Files on disk, mapped read-only.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"

namespace remora::io {
namespace {

// std::generic_category().message is thread-safe where strerror is not.
[[noreturn]] void throw_errno(const std::string& path, std::string_view doing, int code) {
  throw Error(Status::kIo,
              concat(path, ": cannot ", doing, ": ", std::generic_category().message(code)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

class MappedFile final : public ByteSource {
 public:
  MappedFile(std::string name, void* data, uint64_t size)
      : ByteSource(std::move(name)), data_(static_cast<std::byte*>(data)), size_(size) {}
  ~MappedFile() override {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  uint64_t size() const override { return size_; }
  std::span<const std::byte> view() const override { return {data_, static_cast<size_t>(size_)}; }

  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > size_ || dst.size() > size_ - offset) {
      throw Error(Status::kIo, concat(name(), ": ends at byte ", size_, ", bytes ", offset, " to ",
                                      offset + dst.size(), " were wanted; incomplete download?"));
    }
    if (!dst.empty()) std::memcpy(dst.data(), data_ + offset, dst.size());
  }

  void release_pages(uint64_t offset, uint64_t length) const override {
    // Whole pages inside the range only: neighbours may still be in use. The mapping is private
    // and never written, so dropped pages read the same again.
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t begin = (offset + page - 1) / page * page;
    const uint64_t end = std::min(offset + length, size_) / page * page;
    if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
  }

 private:
  std::byte* data_;
  uint64_t size_;
};

class Directory final : public FileSet {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}

  bool contains(std::string_view name) const override {
    struct stat info {};
    return ::stat(display_name(name).c_str(), &info) == 0 && S_ISREG(info.st_mode);
  }
  std::shared_ptr<const ByteSource> open(std::string_view name) const override {
    if (!is_inside_name(name)) {
      throw Error(Status::kFormat,
                  concat(path_, ": file name '", name, "' points outside the folder"));
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
  const Descriptor fd(::open(utf8_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw_errno(utf8_path, "open", errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno(utf8_path, "read its size", errno);
  if (!S_ISREG(info.st_mode)) {
    throw Error(Status::kIo, concat(utf8_path, ": not a regular file"));
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0) return std::make_shared<MappedFile>(utf8_path, nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) throw_errno(utf8_path, "map", errno);
  return std::make_shared<MappedFile>(utf8_path, data, size);
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

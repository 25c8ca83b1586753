#include "io/file_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

uint64_t page_size() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

// Pages of a file in memory, or none where the file system cannot.
class PageMap {
 public:
  // `offset`: of a page. [size] bytes
  PageMap(int fd, uint64_t offset, uint64_t size) : size_(static_cast<size_t>(size)) {
    void* map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset));
    if (map != MAP_FAILED) data_ = static_cast<std::byte*>(map);
  }
  PageMap(PageMap&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  PageMap& operator=(PageMap&&) = delete;
  ~PageMap() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
};

class MappedRange final : public ByteSource {
 public:
  // The range starts `skip` bytes into the map.
  MappedRange(std::string name, PageMap map, uint64_t skip)
      : ByteSource(std::move(name)), map_(std::move(map)), skip_(skip) {}

  uint64_t size() const override { return map_.size() - skip_; }
  std::span<const std::byte> view() const override {
    return {map_.data() + skip_, static_cast<size_t>(size())};
  }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(offset, dst.size());
    if (!dst.empty()) std::memcpy(dst.data(), map_.data() + skip_ + offset, dst.size());
  }
  void release_pages(uint64_t offset, uint64_t length) const override {
    if (offset > size()) return;
    // Whole pages inside the range only: neighbours may still be in use. The mapping is private
    // and never written, so dropped pages read the same again.
    const uint64_t page = page_size();
    const uint64_t begin = (skip_ + offset + page - 1) / page * page;
    const uint64_t end = (skip_ + offset + std::min(length, size() - offset)) / page * page;
    if (begin < end) ::madvise(map_.data() + begin, end - begin, MADV_DONTNEED);
  }

 private:
  PageMap map_;
  uint64_t skip_;
};

class ReadRange final : public ByteSource {
 public:
  ReadRange(std::string name, Descriptor fd, uint64_t offset, uint64_t size)
      : ByteSource(std::move(name)), fd_(std::move(fd)), offset_(offset), size_(size) {}

  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(offset, dst.size());
    while (!dst.empty()) {
      const ssize_t n =
          ::pread(fd_.get(), dst.data(), dst.size(), static_cast<off_t>(offset_ + offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_errno(name(), "read", errno);
      if (n == 0) throw Error(Status::kIo, concat(name(), ": ended while it was read"));
      offset += static_cast<uint64_t>(n);
      dst = dst.subspan(static_cast<size_t>(n));
    }
  }

 private:
  Descriptor fd_;
  uint64_t offset_;
  uint64_t size_;
};

}  // namespace

// std::generic_category().message is thread-safe where strerror is not.
void throw_errno(std::string_view path, std::string_view doing, int code) {
  throw Error(Status::kIo,
              concat(path, ": cannot ", doing, ": ", std::generic_category().message(code)));
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::shared_ptr<const ByteSource> open_range(Descriptor fd, std::string name, uint64_t offset,
                                             uint64_t size, Mapping mapping) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno(name, "read its size", errno);
  if (!S_ISREG(info.st_mode)) throw Error(Status::kIo, concat(name, ": not a regular file"));
  const auto file_size = static_cast<uint64_t>(info.st_size);
  if (offset > file_size || size > file_size - offset) {
    throw Error(Status::kIo, concat(name, ": ", size, " bytes at ", offset,
                                    " are not inside the file of ", file_size, " bytes"));
  }
  const uint64_t skip = offset % page_size();
  if (mapping == Mapping::kIfPossible && size > 0 &&
      size <= std::numeric_limits<size_t>::max() - skip) {
    PageMap map(fd.get(), offset - skip, size + skip);
    if (map.data() != nullptr) {
      return std::make_shared<MappedRange>(std::move(name), std::move(map), skip);
    }
  }
  return std::make_shared<ReadRange>(std::move(name), std::move(fd), offset, size);
}

}  // namespace remora::io

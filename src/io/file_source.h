// Byte sources over a range of an open file: mapped where the file system can, else read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/byte_source.h"

namespace remora::io {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

enum class Mapping { kIfPossible, kNever };

// Bytes `offset` to `offset + size` of `fd`, which need not start on a page. Throws Error{kIo}
// when the range is not inside a regular file, or unreadable. The file must not be made shorter
// while the source is in use: mapped pages behind its end cannot be read.
std::shared_ptr<const ByteSource> open_range(Descriptor fd, std::string name, uint64_t offset,
                                             uint64_t size, Mapping mapping = Mapping::kIfPossible);

// Throws Error{kIo}: `path: cannot DOING: the system's reason`.
[[noreturn]] void throw_errno(std::string_view path, std::string_view doing, int code);

}  // namespace remora::io

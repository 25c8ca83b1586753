#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

constexpr int kTries = 100;
constexpr mode_t kPermissions = 0666;  // less the process's umask

// Where a symbolic link leads, so that the file it names is replaced and not the link.
std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real != nullptr ? std::string(real.get()) : path;
}

}  // namespace

OutputFile::OutputFile(std::string utf8_path)
    : path_(std::move(utf8_path)), target_(follow_links(path_)), fd_(-1) {
  struct stat old {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    throw Error(Status::kIo,
                concat(path_, ": is ", S_ISDIR(old.st_mode) ? "a folder" : "no regular file",
                       "; a file is written whole and then put in place"));
  }
  static std::atomic<uint32_t> counter{0};
  const std::string folder = target_.substr(0, target_.find_last_of('/') + 1);
  for (int i = 0; i < kTries && fd_.get() < 0; ++i) {
    temporary_ = concat(folder, ".remora-", ::getpid(), "-", counter++, ".part");
    fd_ =
        Descriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kPermissions));
    if (fd_.get() < 0 && errno != EEXIST) break;
  }
  if (fd_.get() < 0) {
    const int code = errno;
    temporary_.clear();
    throw_errno(path_, "create it", code);
  }
  // The permissions of the file it replaces; where that is not allowed, the usual ones will do.
  if (exists && ::fchmod(fd_.get(), old.st_mode & 0777) != 0) errno = 0;
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_errno(path_, "write", n < 0 ? errno : ENOSPC);
    offset += static_cast<uint64_t>(n);
    size_ = std::max(size_, offset);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

size_t OutputFile::read_at(uint64_t offset, std::span<std::byte> dst) const {
  const ssize_t n = ::pread(fd_.get(), dst.data(), dst.size(), static_cast<off_t>(offset));
  if (n < 0) throw_errno(path_, "read it back", errno);
  return static_cast<size_t>(n);
}

void OutputFile::commit() {
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw_errno(path_, "put it in place", errno);
  }
  temporary_.clear();
}

}  // namespace remora::io

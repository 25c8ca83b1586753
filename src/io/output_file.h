// A file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file_source.h"

namespace remora::io {

// Written under a temporary name in the target's folder; commit() gives it its name, in place of a
// file that is there. Without commit() nothing is left behind. Not for use from two threads.
class OutputFile {
 public:
  // Throws Error{kIo} when the folder cannot be written to, or when the name is that of something
  // other than a regular file (a folder, a device, a pipe).
  explicit OutputFile(std::string utf8_path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  // Throws Error{kIo} when the bytes do not all get there (disk full).
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  // Fewer bytes at the end of the file.
  size_t read_at(uint64_t offset, std::span<std::byte> dst) const;
  uint64_t size() const { return size_; }
  void commit();

 private:
  std::string path_;       // as given: for messages
  std::string target_;     // symbolic links followed
  std::string temporary_;  // empty after commit()
  Descriptor fd_;
  uint64_t size_ = 0;
};

}  // namespace remora::io

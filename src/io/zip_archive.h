// The directory of a zip file whose members are stored, not compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace remora::io {

struct ZipMember {
  std::string name;
  uint64_t offset = 0;  // of the member's first byte in the file
  uint64_t size = 0;    // bytes; offset + size lies inside the file
};

// Members are found through the directory at the end (with zip64 records where present), and every
// offset and size is checked against the file. Checksums are not compared: PyTorch can write
// archives without them, and it would read every weight once before its use.
class ZipArchive {
 public:
  // Throws Error{kFormat} naming file, member and reason: no directory (cut file), compressed or
  // encrypted members, several volumes, a member outside the file.
  explicit ZipArchive(std::shared_ptr<const ByteSource> source);

  // Null when there is no such member.
  const ZipMember* find(std::string_view name) const;
  // In the order of the names.
  const std::vector<ZipMember>& members() const { return members_; }
  const std::shared_ptr<const ByteSource>& source() const { return source_; }

 private:
  std::shared_ptr<const ByteSource> source_;
  std::vector<ZipMember> members_;
};

}  // namespace remora::io

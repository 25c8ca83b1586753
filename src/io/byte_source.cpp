#include "io/byte_source.h"

#include <algorithm>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {

void ByteSource::check_range(uint64_t offset, uint64_t length) const {
  if (offset <= size() && length <= size() - offset) return;
  throw Error(Status::kIo, concat(name(), ": ends at byte ", size(), ", ", length,
                                  " bytes at byte ", offset, " were wanted; incomplete download?"));
}

std::string read_text(const ByteSource& source, uint64_t max_bytes) {
  if (source.size() > max_bytes) {
    throw Error(Status::kFormat, concat(source.name(), ": ", source.size(), " bytes, at most ",
                                        max_bytes, " are expected here"));
  }
  std::string text(static_cast<size_t>(source.size()), '\0');
  source.read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

bool is_inside_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos)
    return false;
  if (name.find('\0') != std::string_view::npos) return false;
  size_t start = 0;
  while (start <= name.size()) {
    const size_t slash = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, slash - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = slash + 1;
  }
  return true;
}

}  // namespace remora::io

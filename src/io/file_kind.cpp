#include "io/file_kind.h"

#include <algorithm>
#include <array>

namespace remora::io {

FileKind file_kind(const ByteSource& source) {
  std::array<char, 40> head{};
  const auto n = static_cast<size_t>(std::min<uint64_t>(source.size(), head.size()));
  if (n == 0) return FileKind::kEmpty;
  source.read_at(0, std::as_writable_bytes(std::span(head.data(), n)));
  const std::string_view text(head.data(), n);
  if (text.starts_with("PK\x03\x04")) return FileKind::kZip;
  if (text.starts_with("version https://git-lfs")) return FileKind::kLfsPointer;
  if (text.starts_with("<!DOCTYPE") || text.starts_with("<!doctype") || text.starts_with("<html")) {
    return FileKind::kWebPage;
  }
  // A safetensors header of 640 bytes also starts with 0x80; its next byte is 2 as well, but then
  // six zero bytes and a brace follow.
  const bool safetensors = n > 8 && text[7] == '\0' && text[8] == '{';
  if (text.starts_with("\x80") && n > 1 && text[1] >= 2 && text[1] <= 5 && !safetensors) {
    return FileKind::kPickle;
  }
  return FileKind::kOther;
}

std::string_view file_kind_hint(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty:
      return " (the file is empty; incomplete download?)";
    case FileKind::kZip:
      return " (this looks like a PyTorch .pth archive)";
    case FileKind::kPickle:
      return " (this looks like a Python pickle)";
    case FileKind::kLfsPointer:
      return " (this is a Git LFS pointer: fetch the real file with `git lfs pull`)";
    case FileKind::kWebPage:
      return " (this is a web page: the download failed or needs a login)";
    case FileKind::kOther:
      return "";
  }
  return "";
}

}  // namespace remora::io

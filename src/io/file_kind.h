// What a weight file is, told by its first bytes and never by its name.
#pragma once

#include <string_view>

#include "io/byte_source.h"

namespace remora::io {

enum class FileKind {
  kEmpty,
  kZip,         // PyTorch's .pth archive since 1.6
  kPickle,      // PyTorch's older form: a bare pickle stream
  kLfsPointer,  // the text that Git LFS leaves in place of a file
  kWebPage,     // an error or login page saved under the file's name
  kOther,       // possibly safetensors, which has no magic number
};

FileKind file_kind(const ByteSource& source);

// " (this is ...)": a parenthesis for an error message about a file that is not what was expected;
// empty for kOther.
std::string_view file_kind_hint(FileKind kind);

}  // namespace remora::io

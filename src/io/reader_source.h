// A file that a host's callbacks read.
#pragma once

#include <memory>
#include <string_view>

#include "io/byte_source.h"
#include "io/source_set.h"

namespace remora::io {

// Null when the reader says that there is no such file. Throws Error{kCallback} for any other
// status of its open, and for an impossible size.
std::shared_ptr<const ByteSource> open_with_reader(const Reader& reader, std::string_view name);

}  // namespace remora::io

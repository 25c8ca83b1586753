// The header packets of an OGG file.
#pragma once

#include "io/byte_source.h"

namespace remora::io {

// True when the first stream's header packets (three of Vorbis, two of others) are whole.
// libsndfile loses memory on a file that ends before.
bool has_ogg_headers(const ByteSource& source);

}  // namespace remora::io

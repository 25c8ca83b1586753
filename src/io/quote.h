// Names and texts out of files, made fit for an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace remora::io {

// `text` with control bytes and bytes that are not UTF-8 written as \xNN, cut with "..." after
// about `max_bytes`: a hostile file can neither garble nor flood a message.
std::string printable(std::string_view text, size_t max_bytes = 120);

}  // namespace remora::io

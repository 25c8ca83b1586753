// A text turned into the pieces that are spoken one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/prompt.h"
#include "text/tokenizer.h"

namespace remora::engine {

struct ScriptOptions {
  text::ControlTokens control = text::ControlTokens::kAsText;
  bool split = true;           // off: one piece, however long
  uint64_t split_bytes = 512;  // pieces end near this many bytes
  bool clean = false;          // collapse white space
  bool speaker_turns = true;   // <|speaker:N|> begins a turn
};

struct Piece {
  std::string text;       // as the prompt gets it
  uint64_t text_end = 0;  // bytes of the caller's text that are done when this piece is
};

// No pieces when there is nothing to say: see check_speakable(). A byte order mark at the start is
// dropped and line ends become newlines; everything else reaches the model as written unless
// `clean` is set. Throws Error{kInvalidArgument} with the byte offset of invalid UTF-8.
std::vector<Piece> plan_pieces(std::string_view utf8, const ScriptOptions& options);

// Throws Error{kInvalidArgument} when there are none.
void check_speakable(const std::vector<Piece>& pieces);

}  // namespace remora::engine

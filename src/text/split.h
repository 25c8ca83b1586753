// Long text in pieces that a model can say in one go.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/tags.h"

namespace remora::text {

// About 20 s of English or 25 s of Chinese: the models fade after 30 to 40 s.
inline constexpr size_t kDefaultSplitBytes = 300;

struct SplitOptions {
  // The size that pieces aim at and keep below where the text has a place to cut; 0 = one piece.
  size_t split_bytes = kDefaultSplitBytes;
  bool clean = true;          // `spoken` goes through clean_text()
  bool speaker_turns = true;  // <|speaker:N|> begins a turn (S2); false: it is ordinary text
  Brackets brackets = Brackets::kTags;
};

struct Piece {
  // The part of the text, in bytes. Pieces follow one another without gap: joined they are the
  // text, so offset + length says how far the text is done.
  size_t offset = 0;
  size_t length = 0;
  // The tag of the speaker at work where the piece begins in the middle of a turn, else empty. A
  // view into the text.
  std::string_view speaker;
  // What the prompt carries: `speaker` and the piece's turns without blanks at their ends, joined
  // by newlines; turns cleaned when so asked. A text in one piece without tags is, uncleaned,
  // itself.
  std::string spoken;
};

// Cuts valid UTF-8 into pieces of about `split_bytes`: between speakers' turns first, which are
// grouped while they fit (see turns.h), then, inside a longer turn, at the best place near the
// size: paragraph, sentence, clause, line end, blank, character (see breaks.h for what is never
// cut). Every piece has something to say; parts that have not (see clean.h) go with a neighbour,
// whatever its size. Empty when the whole text has nothing to say. Linear in the text.
//
// Throws Error{kInvalidArgument} with the byte offset when the text is not UTF-8 or has a NUL, or
// is longer than 1 GB.
std::vector<Piece> split_text(std::string_view text, const SplitOptions& options = {});

}  // namespace remora::text

#include "engine/script.h"

#include "base/error.h"
#include "text/turns.h"
#include "text/utf8.h"

namespace remora::engine {

std::vector<Piece> plan_pieces(std::string_view utf8, const ScriptOptions& options) {
  const std::string_view whole = utf8;
  const std::vector<text::Turn> turns =
      options.split ? text::split_turns(whole) : std::vector<text::Turn>{};
  if (turns.empty()) return {{std::string(whole), whole.size()}};

  std::vector<Piece> pieces;
  size_t next = 0;
  for (const size_t count : text::group_turns(turns, options.split_bytes)) {
    Piece piece;
    for (size_t i = next; i < next + count; ++i) {
      if (i > next) piece.text.push_back('\n');
      piece.text.append(turns[i].text);
    }
    next += count;
    piece.text_end = turns[next - 1].span.end();
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

void check_speakable(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (piece.text.find_first_not_of(" \t\r\n") != std::string::npos) return;
  }
  throw Error(Status::kInvalidArgument, "text: has nothing to say; give some words");
}

}  // namespace remora::engine

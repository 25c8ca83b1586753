#include "engine/script.h"

#include "base/error.h"
#include "text/split.h"
#include "text/utf8.h"

namespace remora::engine {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Line ends in every convention as one newline each: a carriage return is never passed on.
std::string with_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out.push_back(text[i]);
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out.push_back('\n');
    }
  }
  return out;
}

}  // namespace

std::vector<Piece> plan_pieces(std::string_view utf8, const ScriptOptions& options) {
  const size_t skipped = utf8.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  text::SplitOptions split;
  split.split_bytes = options.split ? options.split_bytes : 0;
  split.clean = options.clean;
  split.speaker_turns = options.speaker_turns;
  std::vector<Piece> pieces;
  for (const text::Piece& piece : text::split_text(utf8.substr(skipped), split)) {
    pieces.push_back({with_newlines(piece.spoken), skipped + piece.offset + piece.length});
  }
  return pieces;
}

void check_speakable(const std::vector<Piece>& pieces) {
  if (pieces.empty()) {
    throw Error(Status::kInvalidArgument,
                "text: has nothing to say; give a word or a number besides marks and tags");
  }
}

}  // namespace remora::engine

#include "text/split.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "base/error.h"
#include "text/breaks.h"
#include "text/char_class.h"
#include "text/clean.h"
#include "text/turns.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

// Spans longer than this (and than the pieces) may be cut: nobody's URL, rather a flood.
constexpr size_t kMaxProtectedBytes = 2048;

// How good a cut is, by level (rows, worst first) and by how much of the wanted size it uses
// (columns: at least 1/2, 1/4, 1/10, less). A sentence end wins over a clause unless it leaves a
// very short piece, which the models say badly.
constexpr std::array<std::array<int, 4>, 7> kScores = {{
    {2, 1, 1, 1},     // grapheme
    {8, 5, 2, 2},     // character
    {12, 9, 6, 3},    // space
    {13, 10, 6, 4},   // line
    {16, 11, 6, 5},   // clause
    {19, 17, 14, 7},  // sentence
    {20, 18, 15, 8},  // paragraph
}};

int score(BreakLevel level, size_t size, size_t wanted) {
  const size_t band = size * 2 >= wanted ? 0 : size * 4 >= wanted ? 1 : size * 10 >= wanted ? 2 : 3;
  return kScores[static_cast<size_t>(level)][band];
}

// The size to aim at with `left` bytes to go, more than `limit`: what remains then is no crumb.
size_t wanted_size(size_t left, size_t limit) {
  return std::min(limit, std::max(left - std::min(left, limit / 4), limit / 2));
}

// Cuts one turn at the best breaks; returns where parts begin (the first one left out), relative to
// the turn.
std::vector<size_t> cut_turn(std::string_view turn, size_t limit, Brackets brackets) {
  const Breaks breaks = find_breaks(turn, brackets, std::max(limit, kMaxProtectedBytes));
  std::vector<size_t> cuts;
  size_t done = 0;  // size of what is cut off
  size_t next = 0;  // the first break behind it
  while (breaks.size - done > limit && next < breaks.places.size()) {
    const size_t wanted = wanted_size(breaks.size - done, limit);
    size_t best = next;  // where nothing fits, the first break there is
    int best_score = 0;
    for (size_t i = next; i < breaks.places.size(); ++i) {
      const size_t size = breaks.places[i].size - done;
      if (size > wanted) break;
      const int worth = score(breaks.places[i].level, size, wanted);
      if (worth >= best_score) {
        best = i;
        best_score = worth;
      }
    }
    const Break& cut = breaks.places[best];
    cuts.push_back(cut.next);
    done = cut.size + (cut.next > cut.end ? 1 : 0);
    next = best + 1;
  }
  return cuts;
}

// Begin of each piece, 0 first: turns grouped, long turns cut.
std::vector<size_t> find_starts(std::string_view text, const std::vector<Turn>& turns,
                                const SplitOptions& options) {
  std::vector<size_t> starts;
  size_t turn = 0;
  for (const size_t group : group_turns(turns, options.split_bytes)) {
    const Span& span = turns[turn].span;
    starts.push_back(span.offset);
    if (turns[turn].text.size() > options.split_bytes) {
      const std::string_view whole = text.substr(span.offset, span.length);
      for (const size_t cut : cut_turn(whole, options.split_bytes, options.brackets)) {
        starts.push_back(span.offset + cut);
      }
    }
    turn += group;
  }
  return starts;
}

// Drops the starts of parts with nothing to say, so that these join the part before; the first ones
// join the part behind.
std::vector<size_t> join_silent(std::string_view text, const std::vector<size_t>& starts,
                                Brackets brackets) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
    if (!has_something_to_say(text.substr(starts[i], end - starts[i]), brackets)) continue;
    kept.push_back(kept.empty() ? 0 : starts[i]);
  }
  return kept;
}

// Fills `speaker` and `spoken`; `turn`, some turn before, is moved on to the one that the piece
// begins in.
void fill_spoken(std::string_view text, const std::vector<Turn>& turns, size_t& turn,
                 const SplitOptions& options, Piece& piece) {
  const size_t end = piece.offset + piece.length;
  while (turns[turn].span.end() <= piece.offset) ++turn;
  const Turn& first = turns[turn];
  if (first.span.offset < piece.offset) piece.speaker = first.text.substr(0, first.tag);
  piece.spoken = piece.speaker;
  for (size_t i = turn; i < turns.size() && turns[i].span.offset < end; ++i) {
    const size_t begin = std::max(turns[i].span.offset, piece.offset);
    const std::string_view part =
        trim(text.substr(begin, std::min(turns[i].span.end(), end) - begin));
    const std::string said = options.clean ? clean_text(part) : std::string(part);
    if (said.empty()) continue;
    if (i > turn && !piece.spoken.empty()) piece.spoken.push_back('\n');
    piece.spoken += said;
  }
}

}  // namespace

std::vector<Piece> split_text(std::string_view text, const SplitOptions& options) {
  constexpr size_t kMaxBytes = Tokenizer::kMaxBytes;
  if (text.size() > kMaxBytes) {
    throw Error(Status::kInvalidArgument,
                concat("text: ", text.size(), " bytes, at most ", kMaxBytes, " can be spoken"));
  }
  require_utf8(text, Nul::kRefused);
  std::vector<Turn> turns;
  if (options.speaker_turns) turns = split_turns(text);
  const bool tagged = !turns.empty();
  if (!tagged) turns.push_back({{0, text.size()}, 0, text});

  std::vector<size_t> starts = {0};
  if (options.split_bytes > 0) starts = find_starts(text, turns, options);
  starts = join_silent(text, starts, options.brackets);
  std::vector<Piece> pieces;
  size_t turn = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
    Piece piece{starts[i], end - starts[i], {}, {}};
    fill_spoken(text, turns, turn, options, piece);
    pieces.push_back(std::move(piece));
  }
  if (pieces.size() == 1 && !tagged && !options.clean) pieces[0].spoken = text;
  return pieces;
}

}  // namespace remora::text

// Text from a user, behind one byte of options: cutting, cleaning, tags, turns and both tokenizers.
#include <map>
#include <memory>
#include <string>

#include "engine/script.h"
#include "fuzz.h"
#include "io/byte_source.h"
#include "text/clean.h"
#include "text/prompt.h"
#include "text/split.h"
#include "text/tags.h"
#include "text/turns.h"
#include "text/utf8.h"

namespace {

using namespace remora;

struct Side {
  std::unique_ptr<const text::Tokenizer> tokenizer;
  text::PromptBuilder prompts;
};

Side side(const std::string& folder, text::Family family, int32_t codebooks, int32_t entries) {
  auto tokenizer =
      text::load_tokenizer(*io::open_directory(std::string(REMORA_FUZZ_DATA) + "/lm/" + folder));
  const text::PromptBuilder prompts(*tokenizer, family, codebooks, entries);
  return {std::move(tokenizer), prompts};
}

const std::map<std::string, Side>& sides() {
  static const auto* made = [] {
    auto* sides = new std::map<std::string, Side>;
    sides->emplace("s2", side("s2pro_tiny", text::Family::kS2, 6, 128));
    sides->emplace("s1", side("s1proj_tiny", text::Family::kS1, 5, 96));
    return sides;
  }();
  return *made;
}

void check_pieces(std::string_view bytes, const text::SplitOptions& options) {
  size_t at = 0;
  for (const text::Piece& piece : text::split_text(bytes, options)) {
    fuzz::require(piece.offset == at, "pieces follow one another");
    fuzz::require(!text::find_utf8_fault(piece.spoken), "no character is cut");
    at += piece.length;
  }
  fuzz::require(at == bytes.size() || at == 0, "pieces cover the text");
}

void check_valid(std::string_view bytes, const Side& with, text::ControlTokens mode) {
  const auto ids = with.tokenizer->encode(bytes, mode);
  if (&with == &sides().at("s1")) {  // the other one puts text into its normal form
    fuzz::require(with.tokenizer->decode(ids) == bytes, "encode and decode give the text back");
  }
  const text::Columns columns = with.prompts.prompt({}, bytes, mode);
  fuzz::require(columns.count() * static_cast<size_t>(columns.rows) == columns.values.size(),
                "columns are whole");
  text::text_warnings(bytes, *with.tokenizer);
  text::batch_texts(bytes, 100);
  const std::string clean = text::clean_text(bytes);
  fuzz::require(text::clean_text(clean) == clean, "cleaning twice is cleaning once");
  fuzz::require(text::find_bracket_tags(text::tags_in_parentheses(bytes)).empty(),
                "no tag is left in brackets");
  text::without_tags(bytes);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t bits = data[0];
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const Side& with = sides().at((bits & 1) != 0 ? "s1" : "s2");
  const auto mode = (bits & 2) != 0 ? text::ControlTokens::kAllowed : text::ControlTokens::kAsText;
  text::SplitOptions split;
  split.split_bytes = (bits & 4) != 0 ? 20 : 200;
  split.clean = (bits & 8) != 0;
  split.speaker_turns = (bits & 16) != 0;
  split.brackets = (bits & 32) != 0 ? text::Brackets::kText : text::Brackets::kTags;
  fuzz::accepts([&] { check_pieces(bytes, split); });
  fuzz::accepts([&] { engine::plan_pieces(bytes, {.split_bytes = 50}); });
  const bool valid = !text::find_utf8_fault(bytes);
  const bool taken = fuzz::accepts([&] {
    if (valid) return check_valid(bytes, with, mode);
    with.tokenizer->encode(bytes, mode);
  });
  fuzz::require(taken == valid, "what is UTF-8 is taken, and nothing else");
  return 0;
}

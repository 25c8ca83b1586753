// Prompts: which marks, texts and codes stand in front of the frames to be generated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/columns.h"
#include "text/tokenizer.h"

namespace remora::text {

// A voice: what was said and how it sounded.
struct Reference {
  std::string text;            // UTF-8 transcript
  std::vector<int32_t> codes;  // [codebooks, frames], row-major
  int64_t frames = 0;
};

// How prompts are built: S2 is a conversation, S1 a single row of pieces.
enum class Family { kS2, kS1 };

// Every piece of a prompt is tokenised by itself. Holds ids only, no copy of the tokenizer, which
// must outlive it. Immutable and safe from several threads.
//
// All functions throw Error{kInvalidArgument} for text that is not UTF-8 and for codes whose number
// or range does not fit, naming reference, codebook and frame. `mode` says what control tokens that
// stand in a text or transcript mean; kAsText leaves only the marks that are put in here.
class PromptBuilder {
 public:
  // `codebooks` >= 1; `codebook_size` >= 1, the entries of each. Throws Error{kFormat} when the
  // tokenizer lacks a mark of the family or has fewer semantic tokens than `codebook_size`.
  PromptBuilder(const Tokenizer& tokenizer, Family family, int32_t codebooks,
                int32_t codebook_size);

  Family family() const { return family_; }
  int32_t rows() const { return codebooks_ + 1; }

  // The whole first prompt, up to the place where generation starts: for S2 system() and
  // user_turn(), for S1 all there is.
  Columns prompt(std::span<const Reference> references, std::string_view text,
                 ControlTokens mode = ControlTokens::kAsText) const;

  // The parts of an S2 conversation (Error{kInvalidState} for S1):
  //   system, user_message, assistant_turn, user_message, assistant_turn, ..., user_turn.
  // A transcript without a speaker tag gets the tag of its index.
  Columns system(std::span<const Reference> references,
                 ControlTokens mode = ControlTokens::kAsText) const;
  Columns user_message(std::string_view text, ControlTokens mode = ControlTokens::kAsText) const;
  // user_message() and the stub behind which generation starts.
  Columns user_turn(std::string_view text, ControlTokens mode = ControlTokens::kAsText) const;
  // What replaces the stub once `codes` [codebooks, frames] are known: the stub, the codes, the
  // end. So a conversation's columns only ever grow, and a cache keeps what it has.
  Columns assistant_turn(std::span<const int32_t> codes, int64_t frames) const;

 private:
  using Ids = std::vector<int32_t>;
  Columns empty() const { return Columns{rows(), {}}; }
  Ids mark(std::string_view text) const;
  void require_token(std::string_view name) const;
  void require_family(Family family) const;
  void append_codes(Columns& out, std::span<const int32_t> codes, int64_t frames,
                    std::string_view what) const;
  Columns s1_prompt(std::span<const Reference> references, std::string_view text,
                    ControlTokens mode) const;

  const Tokenizer& tokenizer_;
  Family family_;
  int32_t codebooks_;
  int32_t codebook_size_;
  // Ids of the fixed pieces. S2:
  Ids system_begin_, instruction_, instruction_with_voice_, before_speech_, user_begin_, stub_,
      message_end_;
  // S1:
  Ids interleave_, speaker_, turn_end_;
};

}  // namespace remora::text

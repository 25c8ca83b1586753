// An encoded reference with its transcript: what a prompt needs to speak in that voice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/live_count.h"
#include "engine/model.h"
#include "text/prompt.h"

namespace remora::engine {

// Which tables a voice's codes point into: a code is a number without meaning elsewhere.
struct CodeTables {
  int64_t codebooks = 0;
  int64_t entries = 0;            // of a table, as the language model counts them
  std::optional<uint64_t> codec;  // Codec::fingerprint(); empty: the codec is not known

  static CodeTables of(const Model& model);
  // Throws Error{kInvalidArgument} naming both sides when the model has other tables. A codec that
  // one side does not know fits.
  void check_fit(const Model& model) const;
};

// Immutable; fits every model with the same tables.
class Voice : public LiveCount<Voice> {
 public:
  // codes: [n_codebooks, frames] row-major, of the model's codec. Throws Error{kInvalidArgument}
  // on a code outside its table (named by position), no frames, or a transcript without anything
  // to say.
  static std::shared_ptr<const Voice> from_codes(const Model& model, std::span<const int32_t> codes,
                                                 int64_t frames, std::string_view transcript) {
    return from_codes(CodeTables::of(model), codes, frames, transcript);
  }
  static std::shared_ptr<const Voice> from_codes(const CodeTables& tables,
                                                 std::span<const int32_t> codes, int64_t frames,
                                                 std::string_view transcript);

  const text::Reference& reference() const { return reference_; }
  const CodeTables& tables() const { return tables_; }

  // These throw Error{kInvalidArgument}: when the voice was made for other tables, ...
  void check_fits(const Model& model) const { tables_.check_fit(model); }
  // ... when it is not UTF-8, or there are no words in it.
  static void check_transcript(std::string_view transcript);

 private:
  Voice(text::Reference reference, const CodeTables& tables)
      : reference_(std::move(reference)), tables_(tables) {}

  text::Reference reference_;
  CodeTables tables_;
};

}  // namespace remora::engine

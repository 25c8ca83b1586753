// An encoded reference with its transcript: what a prompt needs to speak in that voice.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/model.h"
#include "text/prompt.h"

namespace remora::engine {

// Immutable; fits every model with the same number of codebooks and table size.
class Voice {
 public:
  // codes: [n_codebooks, frames] row-major. Throws Error{kInvalidArgument} on a code outside its
  // table (named by position), no frames, or a transcript without anything to say.
  static std::shared_ptr<const Voice> from_codes(const Model& model, std::span<const int32_t> codes,
                                                 int64_t frames, std::string_view transcript);

  const text::Reference& reference() const { return reference_; }
  int64_t n_codebooks() const { return n_codebooks_; }
  int64_t codebook_size() const { return codebook_size_; }

  // These throw Error{kInvalidArgument}: when the voice was made for a model of another shape, ...
  void check_fits(const Model& model) const { check_shape(model, n_codebooks_, codebook_size_); }
  // ... when there are no words in it.
  static void check_transcript(std::string_view transcript);
  static void check_shape(const Model& model, int64_t n_codebooks, int64_t codebook_size);

 private:
  Voice(text::Reference reference, int64_t n_codebooks, int64_t codebook_size)
      : reference_(std::move(reference)),
        n_codebooks_(n_codebooks),
        codebook_size_(codebook_size) {}

  text::Reference reference_;
  int64_t n_codebooks_;
  int64_t codebook_size_;
};

}  // namespace remora::engine

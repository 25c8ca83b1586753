#include "text/prompt.h"

#include <algorithm>

#include "base/concat.h"
#include "base/error.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

// The transcripts as the system message carries them: one a line, each with a speaker tag.
std::string joined_transcripts(std::span<const Reference> references) {
  std::string joined;
  for (size_t i = 0; i < references.size(); ++i) {
    const std::string& text = references[i].text;
    require_utf8(text, Nul::kAllowed, concat("reference ", i, ": transcript"));
    if (i > 0) joined.push_back('\n');
    if (!find_speaker_tag(text)) joined += concat("<|speaker:", i, "|>");
    joined += text;
  }
  return joined;
}

std::string reference_name(size_t index) { return concat("reference ", index, ": "); }

}  // namespace

PromptBuilder::PromptBuilder(const Tokenizer& tokenizer, Family family, int32_t codebooks,
                             int32_t codebook_size)
    : tokenizer_(tokenizer), family_(family), codebooks_(codebooks), codebook_size_(codebook_size) {
  if (codebooks < 1 || codebook_size < 1) {
    throw Error(Status::kInvalidArgument, concat("prompt: ", codebooks, " codebooks of ",
                                                 codebook_size, " entries, expected 1 or more"));
  }
  const int32_t semantic = tokenizer.semantic_end() - tokenizer.semantic_begin() + 1;
  if (semantic < codebook_size) {
    throw Error(Status::kFormat, concat(tokenizer.file(), ": ", semantic,
                                        " semantic tokens, but the model's codebooks have ",
                                        codebook_size, " entries; do they belong together?"));
  }
  if (family == Family::kS2) {
    for (const char* name : {"<|im_start|>", "<|im_end|>", "<|voice|>"}) require_token(name);
    system_begin_ = mark("<|im_start|>system\n");
    instruction_ = mark("convert the provided text to speech");
    instruction_with_voice_ =
        mark("convert the provided text to speech reference to the following:\n\nText:\n");
    before_speech_ = mark("\n\nSpeech:\n");
    user_begin_ = mark("<|im_start|>user\n");
    stub_ = mark("<|im_start|>assistant\n<|voice|>");
    message_end_ = mark("<|im_end|>\n");
  } else {
    for (const char* name : {"<|interleave|>", "<|im_end|>"}) require_token(name);
    interleave_ = mark("<|interleave|>");
    speaker_ = mark("<|speaker:0|>");
    turn_end_ = mark("<|im_end|>");
  }
}

PromptBuilder::Ids PromptBuilder::mark(std::string_view text) const {
  return tokenizer_.encode(text, ControlTokens::kAllowed);
}

void PromptBuilder::require_token(std::string_view name) const {
  if (tokenizer_.token_id(name)) return;
  throw Error(Status::kFormat, concat(tokenizer_.file(), ": has no token ", name,
                                      ", which this model's prompts need"));
}

void PromptBuilder::require_family(Family family) const {
  if (family_ == family) return;
  throw Error(Status::kInvalidState, "prompt: this model's prompts have no conversation turns");
}

void PromptBuilder::append_codes(Columns& out, std::span<const int32_t> codes, int64_t frames,
                                 std::string_view what) const {
  const auto books = static_cast<size_t>(codebooks_);
  if (frames < 0 || codes.size() % books != 0 ||
      codes.size() / books != static_cast<uint64_t>(frames)) {
    throw Error(Status::kInvalidArgument,
                concat(what, codes.size(), " codes for ", frames, " frames, expected ", codebooks_,
                       " codebooks times the frames"));
  }
  const auto wrong = std::find_if(codes.begin(), codes.end(),
                                  [&](int32_t code) { return code < 0 || code >= codebook_size_; });
  if (wrong != codes.end()) {
    const int64_t index = wrong - codes.begin();
    throw Error(Status::kInvalidArgument,
                concat(what, "code ", index, " (codebook ", index / frames, ", frame ",
                       index % frames, ") is ", *wrong, ", expected 0..", codebook_size_ - 1));
  }
  out.append_codes(codes, static_cast<size_t>(frames), tokenizer_.semantic_begin());
}

Columns PromptBuilder::prompt(std::span<const Reference> references, std::string_view text,
                              ControlTokens mode) const {
  if (family_ == Family::kS1) return s1_prompt(references, text, mode);
  Columns out = system(references, mode);
  out.append(user_turn(text, mode));
  return out;
}

Columns PromptBuilder::system(std::span<const Reference> references, ControlTokens mode) const {
  require_family(Family::kS2);
  Columns out = empty();
  out.append_text(system_begin_);
  if (references.empty()) {
    out.append_text(instruction_);
  } else {
    out.append_text(instruction_with_voice_);
    out.append_text(tokenizer_.encode(joined_transcripts(references), mode));
    out.append_text(before_speech_);
    for (size_t i = 0; i < references.size(); ++i) {
      append_codes(out, references[i].codes, references[i].frames, reference_name(i));
    }
  }
  out.append_text(message_end_);
  return out;
}

Columns PromptBuilder::user_message(std::string_view text, ControlTokens mode) const {
  require_family(Family::kS2);
  Columns out = empty();
  out.append_text(user_begin_);
  out.append_text(tokenizer_.encode(text, mode));
  out.append_text(message_end_);
  return out;
}

Columns PromptBuilder::user_turn(std::string_view text, ControlTokens mode) const {
  Columns out = user_message(text, mode);
  out.append_text(stub_);
  return out;
}

Columns PromptBuilder::assistant_turn(std::span<const int32_t> codes, int64_t frames) const {
  require_family(Family::kS2);
  Columns out = empty();
  out.append_text(stub_);
  append_codes(out, codes, frames, "assistant turn: ");
  out.append_text(message_end_);
  return out;
}

Columns PromptBuilder::s1_prompt(std::span<const Reference> references, std::string_view text,
                                 ControlTokens mode) const {
  Columns out = empty();
  out.append_text(interleave_);
  for (size_t i = 0; i < references.size(); ++i) {
    const std::string& transcript = references[i].text;
    require_utf8(transcript, Nul::kAllowed, concat("reference ", i, ": transcript"));
    out.append_text(speaker_);
    out.append_text(tokenizer_.encode(transcript, mode));
    append_codes(out, references[i].codes, references[i].frames, reference_name(i));
    out.append_text(turn_end_);
  }
  out.append_text(speaker_);
  out.append_text(tokenizer_.encode(text, mode));
  return out;
}

}  // namespace remora::text

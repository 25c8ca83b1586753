#include "engine/conversation.h"

#include <algorithm>

#include "base/error.h"
#include "engine/model.h"
#include "engine/saved_values.h"
#include "engine/voice_file.h"

namespace remora::engine {

void Conversation::begin(std::vector<std::shared_ptr<const Voice>> voices, bool keep_turns,
                         text::ControlTokens control) {
  control_ = control;
  const bool going_on = keep_turns && !turns_.empty();
  if (!going_on) {
    voices_ = std::move(voices);
    turns_.clear();
    return;
  }
  if (!voices.empty() && voices != voices_) {
    throw Error(Status::kInvalidArgument,
                "prompt.voices: differ from those this conversation began with; leave them out "
                "with CONTINUE, or start anew without it");
  }
}

text::Columns Conversation::with_piece(std::string_view text) const {
  const text::PromptBuilder builder = model_->prompt_builder();
  std::vector<text::Reference> references;
  for (const auto& voice : voices_) references.push_back(voice->reference());
  if (builder.family() == text::Family::kS1) {
    // This family has no turns: what was said is a further reference.
    for (const Turn& turn : turns_) references.push_back({turn.text, turn.codes, turn.frames});
    return builder.prompt(references, text, control_);
  }
  text::Columns columns = builder.system(references, control_);
  for (const Turn& turn : turns_) {
    columns.append(builder.user_message(turn.text, control_));
    columns.append(builder.assistant_turn(turn.codes, turn.frames));
  }
  columns.append(builder.user_turn(text, control_));
  return columns;
}

void Conversation::keep(std::string_view text, std::span<const int32_t> codes_by_frame) {
  const auto rows = static_cast<size_t>(model_->n_codebooks());
  const size_t frames = codes_by_frame.size() / rows;
  if (frames == 0) return;
  Turn turn{std::string(text), std::vector<int32_t>(codes_by_frame.size()),
            static_cast<int64_t>(frames)};
  for (size_t frame = 0; frame < frames; ++frame) {
    for (size_t row = 0; row < rows; ++row) {
      turn.codes[row * frames + frame] = codes_by_frame[frame * rows + row];
    }
  }
  turns_.push_back(std::move(turn));
}

void Conversation::clear() {
  voices_.clear();
  turns_.clear();
}

void Conversation::save(ByteWriter& out) const {
  out.value<uint8_t>(control_ == text::ControlTokens::kAllowed);
  out.value<uint64_t>(voices_.size());
  for (const auto& voice : voices_) out.numbers<std::byte>(save_voice(*voice));
  out.value<uint64_t>(turns_.size());
  for (const Turn& turn : turns_) {
    out.text(turn.text);
    out.numbers<int32_t>(turn.codes);
    out.value(turn.frames);
  }
}

void Conversation::load(ByteReader& in) {
  Conversation loaded(model_);
  loaded.control_ =
      in.value<uint8_t>() != 0 ? text::ControlTokens::kAllowed : text::ControlTokens::kAsText;
  for (auto left = in.value<uint64_t>(); left > 0; --left) {
    loaded.voices_.push_back(load_voice(*model_, in.numbers<std::byte>()));
  }
  for (auto left = in.value<uint64_t>(); left > 0; --left) {
    Turn turn;
    const int64_t rows = model_->n_codebooks();
    turn.text = read_utf8(in, "a turn's text");
    turn.codes = read_codes(in, rows, model_->lm_config().codebook_size, "a turn's codes");
    const auto held = static_cast<int64_t>(turn.codes.size()) / rows;
    turn.frames = checked_number(in.value<int64_t>(), held, held, "the frames of a turn");
    if (held == 0) refuse_state("a turn without frames");
    loaded.turns_.push_back(std::move(turn));
  }
  *this = std::move(loaded);
}

}  // namespace remora::engine

// What a session has said so far, as the context of its next prompt.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "engine/voice.h"
#include "text/prompt.h"

namespace remora::engine {

class Model;

// Columns only ever grow from one prompt to the next, so the KV cache keeps what it has.
class Conversation {
 public:
  explicit Conversation(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  // Starts anew with these voices, or goes on where it stands: then `voices` must be empty or the
  // ones it began with. Throws Error{kInvalidArgument} otherwise.
  void begin(std::vector<std::shared_ptr<const Voice>> voices, bool keep_turns,
             text::ControlTokens control);

  // The prompt for `text` behind everything that was kept.
  text::Columns with_piece(std::string_view text) const;

  // What was spoken to with_piece(text): codes frame by frame. Becomes context.
  void keep(std::string_view text, std::span<const int32_t> codes_by_frame);
  // Voices stay, turns go.
  void forget_turns() { turns_.clear(); }
  void clear();

  void save(ByteWriter& out) const;
  // Throws Error{kFormat}, or Error{kInvalidArgument} for voices of another model.
  void load(ByteReader& in);

 private:
  struct Turn {
    std::string text;
    std::vector<int32_t> codes;  // [codebooks, frames], row-major
    int64_t frames = 0;
  };

  std::shared_ptr<const Model> model_;
  std::vector<std::shared_ptr<const Voice>> voices_;
  std::vector<Turn> turns_;
  text::ControlTokens control_ = text::ControlTokens::kAsText;
};

}  // namespace remora::engine

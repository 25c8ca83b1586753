#include "c_api/requests.h"

#include "base/concat.h"
#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/handles.h"
#include "c_api/params.h"

namespace remora::c_api {
namespace {

constexpr uint32_t kPromptFlags = REMORA_PROMPT_CONTINUE | REMORA_PROMPT_ALLOW_CONTROL |
                                  REMORA_PROMPT_NO_SPLIT | REMORA_PROMPT_CLEAN_TEXT;

// from: [rows, columns] row-major; to: the same, column by column.
void transpose(const int32_t* from, size_t rows, size_t columns, int32_t* to) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      to[column * rows + row] = from[row * columns + column];
    }
  }
}

text::Columns columns_from(const engine::Model& model, const remora_prompt& prompt) {
  const auto rows = static_cast<size_t>(model.n_codebooks()) + 1;
  const size_t count = checked_count(static_cast<size_t>(prompt.n_tokens), rows, "prompt.n_tokens");
  if (prompt.tokens == nullptr || count == 0) {
    throw Error(Status::kInvalidArgument, "prompt.tokens: has no columns");
  }
  text::Columns columns{static_cast<int32_t>(rows), std::vector<int32_t>(count)};
  transpose(prompt.tokens, rows, count / rows, columns.values.data());
  return columns;
}

}  // namespace

std::vector<int32_t> row_major(const text::Columns& columns) {
  std::vector<int32_t> matrix(columns.values.size());
  // Column by column read as rows is the transposed matrix.
  transpose(columns.values.data(), columns.count(), static_cast<size_t>(columns.rows),
            matrix.data());
  return matrix;
}

text::ControlTokens control_from(uint32_t prompt_flags) {
  return (prompt_flags & REMORA_PROMPT_ALLOW_CONTROL) != 0 ? text::ControlTokens::kAllowed
                                                           : text::ControlTokens::kAsText;
}

remora_prompt default_prompt() {
  remora_prompt prompt{};
  prompt.struct_size = sizeof prompt;
  return prompt;
}

engine::Request request_from(const engine::Model& model, const remora_prompt& user) {
  const remora_prompt prompt = read_struct(&user, default_prompt(), "prompt");
  check_flags(prompt.flags, kPromptFlags, "prompt.flags");
  engine::Request request;
  request.keep_context = (prompt.flags & REMORA_PROMPT_CONTINUE) != 0;
  request.script.control = control_from(prompt.flags);
  request.script.split = (prompt.flags & REMORA_PROMPT_NO_SPLIT) == 0;
  request.script.clean = (prompt.flags & REMORA_PROMPT_CLEAN_TEXT) != 0;
  request.script.speaker_turns = model.lm_config().family == lm::Family::kS2;
  if (prompt.split_bytes != 0) request.script.split_bytes = prompt.split_bytes;

  if (prompt.n_voices > 0 && prompt.voices == nullptr) {
    throw Error(Status::kInvalidArgument,
                concat("prompt.voices: is NULL with n_voices ", prompt.n_voices));
  }
  for (uint64_t i = 0; i < prompt.n_voices; ++i) {
    const auto& voice = required(prompt.voices[i], concat("prompt.voices[", i, "]")).object;
    voice->check_fits(model);
    request.voices.push_back(voice);
  }
  if (prompt.tokens != nullptr || prompt.n_tokens != 0) {
    if (prompt.text != nullptr || prompt.n_voices != 0 || request.keep_context) {
      throw Error(Status::kInvalidArgument,
                  "prompt.tokens: is a whole prompt and goes without text, voices and CONTINUE");
    }
    request.tokens = columns_from(model, prompt);
    return request;
  }
  request.text = text_from(prompt.text, prompt.text_len, "prompt.text");
  if (prompt.text == nullptr) {
    throw Error(Status::kInvalidArgument, "prompt.text: is NULL; give text or tokens");
  }
  return request;
}

}  // namespace remora::c_api

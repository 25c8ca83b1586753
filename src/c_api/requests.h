// The prompt struct of the ABI as the engine's request.
#pragma once

#include <vector>

#include "engine/session.h"
#include "remora/remora.h"

namespace remora::c_api {

text::ControlTokens control_from(uint32_t prompt_flags);

// An empty prompt with its defaults.
remora_prompt default_prompt();

// Throws Error{kInvalidArgument} naming the field. The result borrows the text.
engine::Request request_from(const engine::Model& model, const remora_prompt& user);

// [rows, columns] row-major, as the ABI passes matrices.
std::vector<int32_t> row_major(const text::Columns& columns);

}  // namespace remora::c_api

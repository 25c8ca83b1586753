// The vocabulary of a made-up checkpoint and the tokenizer files that carry it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "synthetic/shape.h"

namespace remora::cli {

struct ControlToken {
  std::string text;
  int64_t id = 0;
};

struct Vocabulary {
  std::vector<std::string> pieces;  // bytes of text token i: the 256 single bytes, then merged ones
  std::vector<std::pair<std::string, std::string>> merges;  // piece 256 + i = first + second
  int64_t first_control_id = 0;       // ids between the pieces and it name nothing
  std::vector<ControlToken> control;  // in the order of their ids, semantic tokens last
  int64_t semantic_begin = 0;
  int64_t semantic_end = 0;  // inclusive
  int64_t end_id = 0;        // <|im_end|>
};

Vocabulary make_vocabulary(const LmShape& shape);

// S2-Pro: tokenizer.json.
std::string tokenizer_json(const Vocabulary& vocabulary);

// S1-mini: tokenizer.tiktoken (base64 of the bytes, blank, rank). Ids count its lines, so unused
// ids are filled with byte strings that no UTF-8 text contains.
std::string tiktoken_file(const Vocabulary& vocabulary);
// S1-mini: special_tokens.json.
std::string special_tokens_json(const Vocabulary& vocabulary);

}  // namespace remora::cli

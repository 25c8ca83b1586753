// First pass over tokenizer.json: its two huge tables as flat lists, the rest as a small tree.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "io/json_tree.h"

namespace remora::text {

struct TokenizerJson {
  // Everything but `model.vocab` and `model.merges`.
  io::JsonTree rest;
  bool has_vocab = false;
  std::vector<std::pair<std::string, int32_t>> vocab;  // as written, ids in 0 .. Vocabulary::kMaxId
  bool has_merges = false;
  std::vector<std::pair<std::string, std::string>> merges;  // left, right
};

// A tree of the 300,000 entries would take most of the loading time. Throws Error{kFormat} where
// the file is not JSON, is nested deeper than 64, or an entry of a table is none, naming it.
TokenizerJson scan_tokenizer_json(const io::ByteSource& source);

}  // namespace remora::text

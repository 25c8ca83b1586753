// The tokenizer of S2-Pro folders: tokenizer.json with a byte-level BPE model.
#pragma once

#include <memory>

#include "io/byte_source.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace remora::text {

// What tokenizer.json holds, checked.
struct JsonTokenizerParts {
  Vocabulary vocabulary;
  PairMerges merges;
  PreTokenizer pretokenizer;
  bool nfc = false;  // normalise before cutting into pre-tokens
};

// Throws Error{kFormat} naming the entry at fault. Anything that would change the ids and is not
// known here (another normaliser, pre-tokenizer or model) is Error{kUnsupported} by its name.
JsonTokenizerParts read_tokenizer_json(const io::ByteSource& source);

std::unique_ptr<const Tokenizer> load_json_tokenizer(const io::FileSet& files);

}  // namespace remora::text

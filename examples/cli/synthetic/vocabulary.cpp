#include "synthetic/vocabulary.h"

#include <array>
#include <set>
#include <string_view>

#include "failure.h"

namespace remora::cli {
namespace {

// Longer pieces are built along these words, so that the fixed parts of a prompt and plain English
// do not fall into single letters.
constexpr std::string_view kWords[] = {
    " the",   " to",    " and",      " of",    " in",     " is",       " that",      " it",
    " you",   " for",   " was",      " with",  " on",     " as",       " at",        " be",
    " this",  " have",  " from",     " or",    " one",    " had",      " by",        " not",
    " but",   " what",  " all",      " were",  " we",     " when",     " your",      " can",
    " said",  " there", " speech",   " text",  "ing",     "er",        "ed",         "es",
    "en",     "an",     "or",        "ll",     "al",      "ar",        "st",         "ou",
    "system", "user",   "assistant", "conv",   "convert", " provided", " reference", " following",
    "Hello",  " rem",   " remora",   "Speech", "Text",
};

// The order that byte-level tokenizers give the single bytes: printable ones first.
std::vector<std::string> single_bytes() {
  std::vector<std::string> printable;
  std::vector<std::string> others;
  for (int byte = 0; byte < 256; ++byte) {
    const bool shown = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    (shown ? printable : others).emplace_back(1, static_cast<char>(byte));
  }
  printable.insert(printable.end(), others.begin(), others.end());
  return printable;
}

void add_merges(Vocabulary& vocabulary) {
  std::set<std::string> known(vocabulary.pieces.begin(), vocabulary.pieces.end());
  for (const std::string_view word : kWords) {
    for (size_t length = 2; length <= word.size(); ++length) {
      std::string piece(word.substr(0, length));
      if (!known.insert(piece).second) continue;
      vocabulary.merges.emplace_back(piece.substr(0, length - 1), piece.substr(length - 1));
      vocabulary.pieces.push_back(std::move(piece));
    }
  }
}

// Control tokens with their distance from the first one. The numbers of S2-Pro leave room for
// tokens that speech does not use.
struct NamedOffset {
  std::string_view text;
  int64_t compact;   // in a made-up vocabulary
  int64_t released;  // behind 151643 text tokens
};

constexpr NamedOffset kS2Tokens[] = {
    {"<|endoftext|>", 0, 0},    {"<|im_start|>", 1, 1},       {"<|im_end|>", 2, 2},
    {"<|pad|>", 3, 26},         {"<|phoneme_start|>", 4, 27}, {"<|phoneme_end|>", 5, 28},
    {"<|text|>", 6, 29},        {"<|voice|>", 7, 30},         {"<|interleave|>", 8, 31},
    {"<|audio_start|>", 9, 32}, {"<|audio_end|>", 10, 33},    {"<|audio_pad|>", 11, 34},
};

constexpr NamedOffset kS1Tokens[] = {
    {"<|begin_of_text|>", 0, 0}, {"<|end_of_text|>", 1, 1},     {"<|pad|>", 2, 2},
    {"<|im_start|>", 3, 3},      {"<|im_end|>", 4, 4},          {"<|phoneme_start|>", 5, 5},
    {"<|phoneme_end|>", 6, 6},   {"<|tool_call_start|>", 7, 7}, {"<|tool_call_end|>", 8, 8},
    {"<|text|>", 9, 9},          {"<|voice|>", 10, 10},         {"<|interleave|>", 11, 11},
    {"<|audio_start|>", 12, 12}, {"<|audio_end|>", 13, 13},     {"<|audio|>", 14, 14},
};

void add_control_tokens(const LmShape& shape, Vocabulary& vocabulary) {
  const bool released = shape.first_control_id > 0;
  vocabulary.first_control_id =
      released ? shape.first_control_id : static_cast<int64_t>(vocabulary.pieces.size());
  const auto add = [&](const NamedOffset& token) {
    const int64_t offset = released ? token.released : token.compact;
    vocabulary.control.push_back({std::string(token.text), vocabulary.first_control_id + offset});
    if (token.text == "<|im_end|>") vocabulary.end_id = vocabulary.control.back().id;
  };
  if (shape.family == Family::kS2Pro) {
    for (const NamedOffset& token : kS2Tokens) add(token);
  } else {
    for (const NamedOffset& token : kS1Tokens) add(token);
  }
  vocabulary.semantic_begin = vocabulary.control.back().id + 1;
  vocabulary.semantic_end = vocabulary.semantic_begin + shape.codebook_size - 1;
  for (int64_t i = 0; i < shape.codebook_size; ++i) {
    vocabulary.control.push_back(
        {"<|semantic:" + std::to_string(i) + "|>", vocabulary.semantic_begin + i});
  }
}

}  // namespace

Vocabulary make_vocabulary(const LmShape& shape) {
  Vocabulary vocabulary;
  vocabulary.pieces = single_bytes();
  add_merges(vocabulary);
  add_control_tokens(shape, vocabulary);
  if (vocabulary.semantic_end >= shape.vocab_size) {
    throw Failure(kError, "made-up checkpoint: " + std::to_string(vocabulary.semantic_end + 1) +
                              " tokens do not fit vocab_size " + std::to_string(shape.vocab_size));
  }
  return vocabulary;
}

}  // namespace remora::cli

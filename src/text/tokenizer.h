// Text to token ids and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/speaker_tag.h"
#include "text/vocabulary.h"

namespace remora::io {
class FileSet;
}

namespace remora::text {

// What a control token such as <|im_end|> means where it stands in the text.
enum class ControlTokens {
  kAsText,  // letters like any others: for everything a user wrote. Speaker tags keep their meaning
  kAllowed,  // the token itself: for the engine's own marks, or where a user asks for it
};

// Immutable and safe from several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Ids of `utf8`, nothing put in front or behind. Nothing is cleaned or dropped either, U+0000 and
  // a byte order mark included. Throws Error{kInvalidArgument} with the byte offset where the text
  // is not UTF-8, or when it is longer than kMaxBytes.
  std::vector<int32_t> encode(std::string_view utf8, ControlTokens mode) const;
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  // The text of ids; parts that are not UTF-8 (a character's bytes cut apart) become U+FFFD.
  // Throws Error{kInvalidArgument} with the index of an id that is none of the vocabulary's.
  std::string decode(std::span<const int32_t> ids) const;

  // By exact content, such as "<|voice|>": added tokens only.
  std::optional<int32_t> token_id(std::string_view name) const { return vocabulary_.id_of(name); }

  // Places where kAllowed would read a control token: what a warning about typed text lists.
  std::vector<Span> find_control_tokens(std::string_view utf8) const;

  // Ids of <|semantic:0|> and of the last semantic token; all between them are semantic too.
  int32_t semantic_begin() const { return vocabulary_.semantic_begin(); }
  int32_t semantic_end() const { return vocabulary_.semantic_end(); }
  // The id of <|im_end|>.
  int32_t end_token() const { return vocabulary_.end_token(); }
  // One more than the largest id; the model's table may have more rows.
  int32_t vocabulary_size() const { return vocabulary_.size(); }
  // The file it was read from, for messages.
  const std::string& file() const { return vocabulary_.file(); }

 protected:
  // `vocabulary` finished. `max_characters`: the text is cut into pieces of so many code points
  // before anything else, 0 = never.
  explicit Tokenizer(Vocabulary vocabulary, size_t max_characters = 0);

  // Buffers of one encode() call.
  struct Pass;
  // A part of the text without added tokens, not empty.
  virtual void encode_text(std::string_view text, Pass& pass, std::vector<int32_t>& out) const = 0;
  virtual const MergeRules& merge_rules() const = 0;

 private:
  void encode_piece(std::string_view text, const AddedTokens& added, Pass& pass,
                    std::vector<int32_t>& out) const;

  Vocabulary vocabulary_;
  size_t max_characters_;
};

struct Tokenizer::Pass {
  BpeEncoder bpe;
  std::vector<std::string_view> words;
};

// The tokenizer of a checkpoint folder: tokenizer.json, else tokenizer.tiktoken with
// special_tokens.json. Throws Error{kIo} when there is neither, Error{kFormat} or
// Error{kUnsupported} naming file and entry when one cannot be read.
std::unique_ptr<const Tokenizer> load_tokenizer(const io::FileSet& files);

}  // namespace remora::text

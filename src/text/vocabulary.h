// What both tokenizers know about their tokens: bytes, added tokens, the codec's range.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"

namespace remora::text {

class Vocabulary {
 public:
  // Ids above are refused, so that no table is sized by a number that a file made up.
  static constexpr int32_t kMaxId = (1 << 21) - 1;

  // `file` is for messages.
  explicit Vocabulary(std::string file);

  // An ordinary token and the bytes it stands for. Throws Error{kFormat} when the id is outside
  // 0 .. kMaxId or taken.
  void add(int32_t id, std::string bytes);

  // A token of the file that no sequence of bytes becomes; kept for its id and for decoding.
  void add_unreachable(int32_t id, const std::string& content);

  // A token that is found in the text as a whole. Its id may be an ordinary token's of the same
  // content. Throws Error{kFormat} when it is longer than AddedTokens::kMaxBytes.
  void add_added(int32_t id, const std::string& content);

  // To be called once after the last token: checks that all 256 bytes, <|im_end|> and the semantic
  // tokens <|semantic:0|>, <|semantic:1|>, ... are there, the latter with consecutive ids. Throws
  // Error{kFormat} naming the file and what is missing.
  void finish();

  const std::string& file() const { return file_; }
  // One more than the largest id.
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  const std::string& bytes_of(int32_t id) const { return tokens_[static_cast<size_t>(id)].bytes; }
  bool contains(int32_t id) const {
    return id >= 0 && id < size() && tokens_[static_cast<size_t>(id)].known;
  }

  const AddedTokens& added() const { return added_; }
  // The added tokens that are speaker tags: part of the language users write, so they keep their
  // meaning where other typed tokens are text. Empty in the released files.
  const AddedTokens& speaker_tags() const { return speaker_tags_; }

  // By exact content, among added tokens and ordinary tokens of the form <|...|>.
  std::optional<int32_t> id_of(std::string_view name) const { return names_.id_of(name); }

  const ByteIds& byte_ids() const { return byte_ids_; }
  int32_t semantic_begin() const { return semantic_begin_; }
  int32_t semantic_end() const { return semantic_end_; }
  int32_t end_token() const { return end_token_; }

 private:
  struct Token {
    std::string bytes;
    bool known = false;
  };
  void put(int32_t id, std::string bytes);
  void put_name(std::string_view name, int32_t id);
  void note_semantic(std::string_view name, int32_t id);
  void check_bytes() const;
  void find_semantic_range();
  [[noreturn]] void fail(std::string_view reason) const;

  std::string file_;
  std::vector<Token> tokens_;  // by id
  AddedTokens added_, speaker_tags_, names_;
  std::vector<std::pair<int32_t, int32_t>> semantic_;  // (code, id)
  ByteIds byte_ids_;
  int32_t semantic_begin_ = 0, semantic_end_ = 0, end_token_ = 0;
};

}  // namespace remora::text

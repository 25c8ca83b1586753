// The tokenizer of S1-mini folders: tokenizer.tiktoken (ranks) and special_tokens.json.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/bpe.h"
#include "text/tokenizer.h"

namespace remora::text {

// Merge rules as ranks of the joined bytes; the rank is the id.
class RankMerges : public MergeRules {
 public:
  // One token for each rank, in any order.
  explicit RankMerges(std::vector<std::string> token_of_rank);
  RankMerges(RankMerges&&) = default;
  RankMerges& operator=(RankMerges&&) = default;

  Merge find(int32_t left, int32_t right, std::string_view joined) const override;
  // The token that is exactly these bytes, Merge::kNone when there is none.
  int32_t rank_of(std::string_view bytes) const;
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;  // by rank; the map's keys point into it
  std::unordered_map<std::string_view, int32_t> ranks_;
  size_t longest_ = 0;
};

// Lines of "base64 rank"; empty lines and those with the token "=" are skipped. Ranks must be
// 0 .. count-1, each once. `file` is for messages. Throws Error{kFormat} naming the line.
RankMerges read_tiktoken(std::string_view text, const std::string& file);

// Token and id in the file's order. Throws Error{kFormat} when it is no flat object of ids.
std::vector<std::pair<std::string, int64_t>> read_special_tokens(std::string_view json,
                                                                 const std::string& file);

std::unique_ptr<const Tokenizer> load_tiktoken_tokenizer(const io::FileSet& files);

}  // namespace remora::text

#include "text/tiktoken_tokenizer.h"

#include <algorithm>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"
#include "io/quote.h"
#include "text/pretokenizer.h"

namespace remora::text {
namespace {

constexpr uint64_t kMaxFileBytes = 64u << 20;
constexpr size_t kMaxCharacters = 400'000;  // texts are cut so before anything else

// As the models were trained: each punctuation character is a pre-token of its own, and the
// mistyped lookahead `(\?!\S)` matches the characters ?! themselves.
constexpr std::string_view kPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|\p{P}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(\?!\S)|\s+)";

class TiktokenTokenizer : public Tokenizer {
 public:
  TiktokenTokenizer(Vocabulary vocabulary, RankMerges merges)
      : Tokenizer(std::move(vocabulary), kMaxCharacters),
        merges_(std::move(merges)),
        pretokenizer_(kPattern, file()) {}

 protected:
  const MergeRules& merge_rules() const override { return merges_; }

  void encode_text(std::string_view text, Pass& pass, std::vector<int32_t>& out) const override {
    pretokenizer_.split(text, pass.words);
    for (const std::string_view word : pass.words) {
      if (const int32_t whole = merges_.rank_of(word); whole != Merge::kNone) {
        out.push_back(whole);
      } else {
        pass.bpe.encode(word, out);
      }
    }
  }

 private:
  RankMerges merges_;
  PreTokenizer pretokenizer_;
};

// Special tokens follow the ranks in the file's order; the ids it gives must say the same.
void add_special_tokens(const std::vector<std::pair<std::string, int64_t>>& special,
                        const std::string& file, Vocabulary& out) {
  if (special.size() > static_cast<size_t>(Vocabulary::kMaxId)) {
    throw Error(Status::kFormat, concat(file, ": ", special.size(), " special tokens"));
  }
  const int32_t first = out.size();
  for (size_t i = 0; i < special.size(); ++i) {
    const auto& [name, id] = special[i];
    const int32_t expected = first + static_cast<int32_t>(i);
    if (id != expected) {
      throw Error(Status::kFormat, concat(file, ": token '", io::printable(name), "' has id ", id,
                                          ", but its place says ", expected, " (", first,
                                          " ranks, then the tokens in order); do ", file, " and ",
                                          out.file(), " belong together?"));
    }
    out.add_added(expected, name);
  }
}

}  // namespace

RankMerges::RankMerges(std::vector<std::string> token_of_rank) : tokens_(std::move(token_of_rank)) {
  ranks_.reserve(tokens_.size());
  for (size_t rank = 0; rank < tokens_.size(); ++rank) {
    ranks_.emplace(tokens_[rank], static_cast<int32_t>(rank));
    longest_ = std::max(longest_, tokens_[rank].size());
  }
}

int32_t RankMerges::rank_of(std::string_view bytes) const {
  if (bytes.size() > longest_) return Merge::kNone;
  const auto found = ranks_.find(bytes);
  return found == ranks_.end() ? Merge::kNone : found->second;
}

Merge RankMerges::find(int32_t, int32_t, std::string_view joined) const {
  const int32_t rank = rank_of(joined);
  return {rank, rank};
}

std::unique_ptr<const Tokenizer> load_tiktoken_tokenizer(const io::FileSet& files) {
  const auto ranks = files.open("tokenizer.tiktoken");
  const auto special = files.open("special_tokens.json");
  RankMerges merges = read_tiktoken(io::read_text(*ranks, kMaxFileBytes), ranks->name());
  Vocabulary vocabulary(ranks->name());
  for (size_t rank = 0; rank < merges.tokens().size(); ++rank) {
    vocabulary.add(static_cast<int32_t>(rank), merges.tokens()[rank]);
  }
  add_special_tokens(read_special_tokens(io::read_text(*special, kMaxFileBytes), special->name()),
                     special->name(), vocabulary);
  vocabulary.finish();
  return std::make_unique<TiktokenTokenizer>(std::move(vocabulary), std::move(merges));
}

}  // namespace remora::text

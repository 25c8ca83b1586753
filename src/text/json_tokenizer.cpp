#include "text/json_tokenizer.h"

#include <utility>

#include "text/normalizer.h"

namespace remora::text {
namespace {

class JsonTokenizer : public Tokenizer {
 public:
  explicit JsonTokenizer(JsonTokenizerParts parts)
      : Tokenizer(std::move(parts.vocabulary)),
        merges_(std::move(parts.merges)),
        pretokenizer_(std::move(parts.pretokenizer)),
        nfc_(parts.nfc) {}

 protected:
  const MergeRules& merge_rules() const override { return merges_; }

  void encode_text(std::string_view text, Pass& pass, std::vector<int32_t>& out) const override {
    const std::string normal = nfc_ && !is_surely_nfc(text) ? to_nfc(text) : std::string();
    pretokenizer_.split(normal.empty() ? text : normal, pass.words);
    for (const std::string_view word : pass.words) pass.bpe.encode(word, out);
  }

 private:
  PairMerges merges_;
  PreTokenizer pretokenizer_;
  bool nfc_;
};

}  // namespace

std::unique_ptr<const Tokenizer> load_json_tokenizer(const io::FileSet& files) {
  return std::make_unique<JsonTokenizer>(read_tokenizer_json(*files.open("tokenizer.json")));
}

}  // namespace remora::text

#include "text/json_tokenizer_scan.h"

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"
#include "text/vocabulary.h"

namespace remora::text {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 64;
// The released file has 11 MB.
constexpr uint64_t kMaxFileBytes = 256u << 20;

// Each event returns false, with the reason in fault(), to stop.
class Scanner : public nlohmann::json_sax<json> {
 public:
  explicit Scanner(TokenizerJson& out) : out_(out) {}
  const std::string& fault() const { return fault_; }

  bool key(std::string& name) override {
    out_.rest.key(std::move(name));
    return true;
  }
  bool start_object(size_t) override {
    if (where_ == Where::kRest && at_model("vocab")) {
      return enter(Where::kVocab, out_.has_vocab);
    }
    return where_ == Where::kRest ? open(json::object()) : wrong_entry();
  }
  bool end_object() override {
    if (where_ != Where::kVocab) return close();
    where_ = Where::kRest;
    return true;
  }
  bool start_array(size_t) override {
    if (where_ == Where::kMerges) {
      out_.merges.emplace_back();
      filled_ = 0;
      where_ = Where::kPair;
      return true;
    }
    if (where_ == Where::kRest && at_model("merges")) {
      return enter(Where::kMerges, out_.has_merges);
    }
    return where_ == Where::kRest ? open(json::array()) : wrong_entry();
  }
  bool end_array() override {
    if (where_ == Where::kPair) {
      if (filled_ < 2) return wrong_entry();
      where_ = Where::kMerges;
      return true;
    }
    if (where_ != Where::kMerges) return close();
    where_ = Where::kRest;
    return true;
  }

  bool string(std::string& value) override {
    switch (where_) {
      case Where::kRest:
        return put(std::move(value));
      case Where::kVocab:
        return wrong_entry();
      case Where::kMerges:
        return split_merge(value);
      case Where::kPair:
        if (filled_ == 2) return wrong_entry();
        (filled_++ == 0 ? out_.merges.back().first : out_.merges.back().second) = std::move(value);
        return true;
    }
    return false;
  }
  bool number_unsigned(uint64_t value) override {
    if (where_ != Where::kVocab) return other(value);
    if (value > Vocabulary::kMaxId) return wrong_entry();
    out_.vocab.emplace_back(key(), static_cast<int32_t>(value));
    return true;
  }
  bool number_integer(int64_t value) override { return other(value); }
  bool number_float(double value, const std::string&) override { return other(value); }
  bool boolean(bool value) override { return other(value); }
  bool null() override { return other(nullptr); }
  bool binary(json::binary_t&) override { return false; }  // JSON text has none
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fault_ = concat("not readable as JSON at byte ", position, "; incomplete download?");
    return false;
  }

 private:
  enum class Where { kRest, kVocab, kMerges, kPair };

  // Inside root.model, behind the key `name`.
  bool at_model(std::string_view name) const {
    return out_.rest.depth() == 2 && model_ && key() == name && out_.rest.in_object();
  }

  bool enter(Where table, bool& seen) {
    if (seen) return stop(concat("'model.", key(), "' is there twice"));
    seen = true;
    where_ = table;
    return true;
  }

  bool stop(std::string reason) {
    fault_ = std::move(reason);
    return false;
  }

  bool wrong_entry() {
    if (where_ == Where::kVocab) {
      return stop(
          concat("the id of '", io::printable(key()), "' is no number in 0..", Vocabulary::kMaxId));
    }
    // An open pair has its place in the list already.
    return wrong_merge(out_.merges.size() - (where_ == Where::kPair ? 1 : 0));
  }
  bool wrong_merge(size_t index) {
    return stop(concat("'model.merges[", index, "]' is neither [\"a\",\"b\"] nor \"a b\""));
  }

  bool split_merge(std::string_view both) {
    const size_t blank = both.find(' ');
    if (blank == std::string_view::npos || blank != both.rfind(' ')) return wrong_entry();
    out_.merges.emplace_back(both.substr(0, blank), both.substr(blank + 1));
    return true;
  }

  template <typename T>
  bool other(T value) {
    return where_ == Where::kRest ? put(value) : wrong_entry();
  }

  bool put(json value) {
    out_.rest.put(std::move(value));
    return true;
  }

  bool open(json container) {
    io::JsonTree& tree = out_.rest;
    if (tree.depth() == kMaxDepth) {
      return stop(concat("is nested deeper than ", kMaxDepth, " levels"));
    }
    if (tree.depth() == 1) model_ = tree.in_object() && key() == "model";
    tree.open(std::move(container));
    return true;
  }
  bool close() {
    out_.rest.close();
    return true;
  }

  const std::string& key() const { return out_.rest.key(); }

  TokenizerJson& out_;
  Where where_ = Where::kRest;
  bool model_ = false;  // the container at depth 2 is root.model
  int filled_ = 0;      // halves of the open pair
  std::string fault_;
};

}  // namespace

TokenizerJson scan_tokenizer_json(const io::ByteSource& source) {
  const std::string text = io::read_text(source, kMaxFileBytes);
  TokenizerJson out;
  Scanner scanner(out);
  if (!json::sax_parse(text, &scanner)) {
    throw Error(Status::kFormat, concat(source.name(), ": ", scanner.fault()));
  }
  return out;
}

}  // namespace remora::text

// What tokenizer.json means: the second pass, over what was scanned.
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"
#include "text/byte_alphabet.h"
#include "text/json_tokenizer.h"
#include "text/json_tokenizer_scan.h"

namespace remora::text {
namespace {

using io::printable;
using nlohmann::json;
using IdsByName = std::unordered_map<std::string_view, int32_t>;  // names as the file writes them

// One file being read: where its errors come from.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  JsonTokenizerParts read(const TokenizerJson& scanned) const {
    const json& root = scanned.rest.root();
    if (!root.is_object()) fail("is not a JSON object");
    const json& model = member(root, "model", "");
    if (!model.is_object()) fail("'model' is not an object");
    check_model(model);
    if (!scanned.has_vocab || scanned.vocab.empty()) fail("'model.vocab' is no object with tokens");
    if (!scanned.has_merges) fail("'model.merges' is no array");
    JsonTokenizerParts parts{Vocabulary(file_), PairMerges(scanned.merges.size()),
                             PreTokenizer(pattern(member(root, "pre_tokenizer", "")), file_),
                             wants_nfc(root)};
    const IdsByName ids = read_vocabulary(scanned.vocab, parts.vocabulary);
    read_added(root, parts.vocabulary);
    parts.vocabulary.finish();
    read_merges(scanned.merges, ids, parts.merges);
    return parts;
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(Status::kFormat, concat(file_, ": ", reason));
  }
  [[noreturn]] void refuse(std::string_view reason) const {
    throw Error(Status::kUnsupported, concat(file_, ": ", reason, " is not supported"));
  }

  const json& member(const json& object, const char* key, std::string_view path) const {
    if (!object.is_object()) fail(concat("'", path, key, "' is looked for in no object"));
    const auto found = object.find(key);
    if (found == object.end()) fail(concat("has no '", path, key, "'"));
    return *found;
  }

  // The value of `key`, or the type's empty value when it is absent or null.
  template <typename T>
  T optional(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return T{};
    if constexpr (std::is_same_v<T, bool>) {
      if (!found->is_boolean()) fail(concat("'", key, "' is not true or false"));
    } else {
      if (!found->is_string()) fail(concat("'", key, "' is not a string"));
    }
    return found->get<T>();
  }

  std::string type_of(const json& object) const {
    return object.is_object() ? optional<std::string>(object, "type") : std::string();
  }

  int32_t read_id(const json& value, std::string_view of) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > Vocabulary::kMaxId) {
      fail(concat("the id of '", printable(of), "' is no number in 0..", Vocabulary::kMaxId));
    }
    return value.get<int32_t>();
  }

  // Every option that would change the ids.
  void check_model(const json& model) const {
    if (const std::string type = type_of(model); type != "BPE") {
      refuse(concat("model type '", printable(type), "'"));
    }
    if (const auto dropout = model.find("dropout");
        dropout != model.end() && !dropout->is_null() && *dropout != 0) {
      refuse("BPE dropout");
    }
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!optional<std::string>(model, affix).empty()) refuse(concat("'model.", affix, "'"));
    }
    for (const char* option : {"byte_fallback", "ignore_merges"}) {
      if (optional<bool>(model, option)) refuse(concat("'model.", option, "' true"));
    }
  }

  bool wants_nfc(const json& root) const {
    const auto field = root.find("normalizer");
    if (field == root.end() || field->is_null()) return false;
    return wants_nfc_from(*field);
  }

  bool wants_nfc_from(const json& normalizer) const {
    const std::string type = type_of(normalizer);
    if (type == "NFC") return true;
    if (type != "Sequence") refuse(concat("normalizer '", printable(type), "'"));
    bool any = false;
    for (const json& part : member(normalizer, "normalizers", "normalizer.")) {
      if (type_of(part) != "NFC") refuse(concat("normalizer '", printable(type_of(part)), "'"));
      any = true;
    }
    return any;
  }

  // Sequence of [Split by a regular expression, ByteLevel without an own one].
  std::string pattern(const json& pre) const {
    if (type_of(pre) != "Sequence") refuse(concat("pre-tokenizer '", printable(type_of(pre)), "'"));
    const json& steps = member(pre, "pretokenizers", "pre_tokenizer.");
    if (!steps.is_array() || steps.size() != 2 || type_of(steps[0]) != "Split" ||
        type_of(steps[1]) != "ByteLevel") {
      refuse("a pre-tokenizer other than Split and ByteLevel in sequence");
    }
    const json& split = steps[0];
    if (optional<std::string>(split, "behavior") != "Isolated" || optional<bool>(split, "invert")) {
      refuse("a Split pre-tokenizer that is not 'Isolated', or inverted");
    }
    if (optional<bool>(steps[1], "add_prefix_space") || optional<bool>(steps[1], "use_regex")) {
      refuse("a ByteLevel pre-tokenizer with 'add_prefix_space' or 'use_regex'");
    }
    const json& pattern = member(split, "pattern", "pre_tokenizer.pretokenizers[0].");
    const json& regex = member(pattern, "Regex", "pre_tokenizer.pretokenizers[0].pattern.");
    if (!regex.is_string()) fail("the pre-tokenizer's 'Regex' is not a string");
    return regex.get<std::string>();
  }

  IdsByName read_vocabulary(const std::vector<std::pair<std::string, int32_t>>& vocab,
                            Vocabulary& out) const {
    IdsByName ids;
    ids.reserve(vocab.size());
    for (const auto& [name, id] : vocab) {
      if (!ids.emplace(name, id).second) {
        fail(concat("token '", printable(name), "' is in 'model.vocab' twice"));
      }
      if (auto bytes = bytes_from_alphabet(name)) {
        out.add(id, std::move(*bytes));
      } else {
        out.add_unreachable(id, name);
      }
    }
    return ids;
  }

  void read_added(const json& root, Vocabulary& out) const {
    const auto added = root.find("added_tokens");
    if (added == root.end() || added->is_null()) return;
    if (!added->is_array()) fail("'added_tokens' is not an array");
    for (size_t i = 0; i < added->size(); ++i) {
      const json& token = (*added)[i];
      if (!token.is_object()) fail(concat("'added_tokens[", i, "]' is not an object"));
      const auto content = optional<std::string>(token, "content");
      for (const char* option : {"single_word", "lstrip", "rstrip"}) {
        if (optional<bool>(token, option)) {
          refuse(concat("'", option, "' of the added token '", printable(content), "'"));
        }
      }
      out.add_added(read_id(member(token, "id", concat("added_tokens[", i, "].")), content),
                    content);
    }
  }

  void read_merges(const std::vector<std::pair<std::string, std::string>>& merges,
                   const IdsByName& ids, PairMerges& out) const {
    if (merges.empty()) fail("'model.merges' is empty: every text would be single bytes");
    std::string joined;
    for (size_t i = 0; i < merges.size(); ++i) {
      const auto id_of = [&](std::string_view name) {
        const auto found = ids.find(name);
        if (found == ids.end()) {
          fail(concat("'model.merges[", i, "]' needs the token '", printable(name),
                      "', which 'model.vocab' does not have"));
        }
        return found->second;
      };
      const auto& [left, right] = merges[i];
      joined.assign(left).append(right);
      out.add(id_of(left), id_of(right), {static_cast<int32_t>(i), id_of(joined)});
    }
  }

  const std::string& file_;
};

}  // namespace

JsonTokenizerParts read_tokenizer_json(const io::ByteSource& source) {
  return Reader(source.name()).read(scan_tokenizer_json(source));
}

}  // namespace remora::text

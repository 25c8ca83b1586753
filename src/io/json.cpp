#include "io/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_kind.h"
#include "io/json_tree.h"
#include "io/quote.h"

namespace remora::io {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;

// Counted before parsing: trees are copied and freed by recursion elsewhere.
void check_depth(const std::string& file, std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) {
        throw Error(Status::kFormat, concat(file, ": not readable as JSON: at byte ", i,
                                            " it is nested deeper than ", kMaxDepth));
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

// Without the library's own "[json.exception.parse_error.101] parse error at ...: ".
std::string_view reason_of(std::string_view what) {
  for (const std::string_view end : {"] ", ": "}) {
    const size_t at = what.find(end);
    if (at != std::string_view::npos) what.remove_prefix(at + end.size());
  }
  return what;
}

// Builds the tree and keeps what the parser says against the text.
class TreeReader final : public nlohmann::json_sax<json> {
 public:
  explicit TreeReader(JsonTree& tree) : tree_(tree) {}
  // "at byte 9: syntax error ...", or "" when there was nothing wrong.
  const std::string& fault() const { return fault_; }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return put(value); }
  bool number_unsigned(uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }  // JSON text has none
  bool key(std::string& name) override {
    tree_.key(std::move(name));
    return true;
  }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&, const json::exception& error) override {
    // The library counts from 1.
    fault_ = concat("at byte ", position > 0 ? position - 1 : 0, ": ",
                    printable(reason_of(error.what()), 300));
    return false;
  }

 private:
  bool put(json value) {
    tree_.put(std::move(value));
    return true;
  }
  bool open(json container) {
    tree_.open(std::move(container));
    return true;
  }
  bool close() {
    tree_.close();
    return true;
  }

  JsonTree& tree_;
  std::string fault_;
};

// How a message shows a value: short ones as they are.
std::string shown(const json& value) {
  if (value.is_structured())
    return concat(value.is_array() ? "an array of " : "an object of ", value.size());
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

// A whole number that fits, whatever its sign; 1.0 and 1e3 are no whole numbers here.
std::optional<int64_t> as_integer(const json& value, IntRange range) {
  if (!value.is_number_integer()) return std::nullopt;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value.is_number_unsigned() && value.get<uint64_t>() > kMax) return std::nullopt;
  const auto number = value.get<int64_t>();
  if (number < range.min || number > range.max) return std::nullopt;
  return number;
}

std::string expected_integer(IntRange range) {
  return concat("a whole number from ", range.min, " to ", range.max);
}

}  // namespace

std::shared_ptr<const json> parse_json(const ByteSource& source, uint64_t max_bytes) {
  const std::string text = read_text(source, max_bytes);
  check_depth(source.name(), text);
  const auto tree = std::make_shared<JsonTree>();
  TreeReader reader(*tree);
  if (!json::sax_parse(text, &reader)) {
    throw Error(Status::kFormat, concat(source.name(), ": not readable as JSON: ", reader.fault(),
                                        file_kind_hint(file_kind(source))));
  }
  return {tree, &tree->root()};
}

JsonObject::JsonObject(const ByteSource& source, uint64_t max_bytes)
    : value_(parse_json(source, max_bytes)), file_(source.name()) {
  if (!value_->is_object()) {
    throw Error(Status::kFormat, concat(file_, ": is ", shown(*value_), ", expected an object"));
  }
}

JsonObject::JsonObject(std::shared_ptr<const json> value, std::string file, std::string path)
    : value_(std::move(value)), file_(std::move(file)), path_(std::move(path)) {}

bool JsonObject::has(std::string_view key) const { return value_->find(key) != value_->end(); }

bool JsonObject::is_null(std::string_view key) const {
  const auto at = value_->find(key);
  return at != value_->end() && at->is_null();
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : value_->items()) out.push_back(key);
  return out;
}

size_t JsonObject::size() const { return value_->size(); }

std::string JsonObject::field(std::string_view key) const {
  return path_.empty() ? std::string(key) : concat(path_, ".", key);
}

void JsonObject::fail(std::string_view key, std::string_view reason) const {
  throw Error(Status::kFormat, concat(file_, ": ", printable(field(key)), " ", reason));
}

const json* JsonObject::find(std::string_view key) const {
  const auto at = value_->find(key);
  return at == value_->end() || at->is_null() ? nullptr : &*at;
}

const json& JsonObject::get(std::string_view key, std::string_view expected) const {
  const json* value = find(key);
  if (value == nullptr) {
    fail(key, concat(has(key) ? "is null, expected " : "is missing, expected ", expected));
  }
  return *value;
}

int64_t JsonObject::integer(std::string_view key, IntRange range) const {
  const json& value = get(key, expected_integer(range));
  const std::optional<int64_t> number = as_integer(value, range);
  if (!number) fail(key, concat("is ", shown(value), ", expected ", expected_integer(range)));
  return *number;
}

int64_t JsonObject::integer(std::string_view key, int64_t fallback, IntRange range) const {
  return find(key) == nullptr ? fallback : integer(key, range);
}

double JsonObject::number(std::string_view key, NumberRange range) const {
  const std::string expected = concat("a number from ", range.min, " to ", range.max);
  const json& value = get(key, expected);
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  // Written so that NaN fails.
  if (!(number >= range.min && number <= range.max)) {
    fail(key, concat("is ", shown(value), ", expected ", expected));
  }
  return number;
}

double JsonObject::number(std::string_view key, double fallback, NumberRange range) const {
  return find(key) == nullptr ? fallback : number(key, range);
}

bool JsonObject::boolean(std::string_view key) const {
  const json& value = get(key, "true or false");
  if (!value.is_boolean()) fail(key, concat("is ", shown(value), ", expected true or false"));
  return value.get<bool>();
}

bool JsonObject::boolean(std::string_view key, bool fallback) const {
  return find(key) == nullptr ? fallback : boolean(key);
}

std::string JsonObject::string(std::string_view key) const {
  const json& value = get(key, "a string");
  if (!value.is_string()) fail(key, concat("is ", shown(value), ", expected a string"));
  return value.get<std::string>();
}

std::string JsonObject::string(std::string_view key, std::string_view fallback) const {
  return find(key) == nullptr ? std::string(fallback) : string(key);
}

std::vector<int64_t> JsonObject::integers(std::string_view key, IntRange range,
                                          size_t max_count) const {
  const json& value = get(key, "an array of whole numbers");
  if (!value.is_array() || value.size() > max_count) {
    fail(key, concat("is ", shown(value), ", expected an array of at most ", max_count,
                     " whole numbers"));
  }
  std::vector<int64_t> out;
  for (const json& item : value) {
    const std::optional<int64_t> number = as_integer(item, range);
    if (!number) {
      fail(concat(key, "[", out.size(), "]"),
           concat("is ", shown(item), ", expected ", expected_integer(range)));
    }
    out.push_back(*number);
  }
  return out;
}

std::vector<std::string> JsonObject::strings(std::string_view key, size_t max_count) const {
  const json& value = get(key, "an array of strings");
  if (!value.is_array() || value.size() > max_count) {
    fail(key,
         concat("is ", shown(value), ", expected an array of at most ", max_count, " strings"));
  }
  std::vector<std::string> out;
  for (const json& item : value) {
    if (!item.is_string()) {
      fail(concat(key, "[", out.size(), "]"), concat("is ", shown(item), ", expected a string"));
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

JsonObject JsonObject::object(std::string_view key) const {
  const json& value = get(key, "an object");
  if (!value.is_object()) fail(key, concat("is ", shown(value), ", expected an object"));
  return {std::shared_ptr<const json>(value_, &value), file_, field(key)};
}

std::optional<JsonObject> JsonObject::optional_object(std::string_view key) const {
  if (find(key) == nullptr) return std::nullopt;
  return object(key);
}

}  // namespace remora::io

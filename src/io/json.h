// JSON files read strictly: errors name the file and the dotted field, and no exception of the JSON
// library gets out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace remora::io {

// Throws Error{kFormat}: larger than `max_bytes`, not JSON (with the byte and the reason), or
// nested deeper than 64.
std::shared_ptr<const nlohmann::json> parse_json(const ByteSource& source, uint64_t max_bytes);

struct IntRange {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};
struct NumberRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};

// One object of a JSON file and where it stands in it, such as "text_config" in "config.json".
// Each accessor comes with a fallback (for a key that is absent or null) and without (then that is
// an error). All throw Error{kFormat} on a value of another type or outside its range, such as
// `config.json: text_config.dim is -1, expected a whole number from 1 to 65536`.
// A cheap handle: copies share the parsed file. Immutable, safe from several threads.
class JsonObject {
 public:
  // The whole file, which must be an object.
  JsonObject(const ByteSource& source, uint64_t max_bytes);

  bool has(std::string_view key) const;      // present, if only as null
  bool is_null(std::string_view key) const;  // present and null
  std::vector<std::string> keys() const;     // sorted
  size_t size() const;

  int64_t integer(std::string_view key, IntRange range = {}) const;
  int64_t integer(std::string_view key, int64_t fallback, IntRange range) const;
  // Finite always; a whole number will do.
  double number(std::string_view key, NumberRange range = {}) const;
  double number(std::string_view key, double fallback, NumberRange range) const;
  bool boolean(std::string_view key) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string string(std::string_view key) const;
  std::string string(std::string_view key, std::string_view fallback) const;
  // An array; `max_count` bounds its length.
  std::vector<int64_t> integers(std::string_view key, IntRange range = {},
                                size_t max_count = 4096) const;
  std::vector<std::string> strings(std::string_view key, size_t max_count = 4096) const;
  JsonObject object(std::string_view key) const;
  // Nothing when the key is absent or null.
  std::optional<JsonObject> optional_object(std::string_view key) const;

  // "text_config.dim"
  std::string field(std::string_view key) const;
  // Throws Error{kFormat} with `file: field reason`: for rules between several fields.
  [[noreturn]] void fail(std::string_view key, std::string_view reason) const;
  const std::string& file() const { return file_; }

 private:
  JsonObject(std::shared_ptr<const nlohmann::json> value, std::string file, std::string path);
  // Null when the key is absent or its value null.
  const nlohmann::json* find(std::string_view key) const;
  const nlohmann::json& get(std::string_view key, std::string_view expected) const;

  std::shared_ptr<const nlohmann::json> value_;
  std::string file_;
  std::string path_;  // empty for the whole file
};

}  // namespace remora::io

// Reading tokenizer.tiktoken and special_tokens.json.
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"
#include "text/base64.h"
#include "text/tiktoken_tokenizer.h"

namespace remora::text {
namespace {

using nlohmann::json;

struct Entry {
  std::string bytes;
  int32_t rank = 0;
};

[[noreturn]] void fail_line(const std::string& file, size_t line, std::string_view reason) {
  throw Error(Status::kFormat, concat(file, ": line ", line, " ", reason));
}

Entry read_line(std::string_view line, const std::string& file, size_t number) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) fail_line(file, number, "is not 'base64 rank'");
  auto bytes = decode_base64(line.substr(0, blank));
  if (!bytes || bytes->empty()) fail_line(file, number, "holds no base64 token");
  const std::string_view digits = line.substr(blank + 1);
  int32_t rank = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (error != std::errc() || end != digits.data() + digits.size() || rank < 0) {
    fail_line(file, number, "holds no rank");
  }
  return {std::move(*bytes), rank};
}

// Tokens by rank; every rank in 0 .. count-1 exactly once, so that the special tokens' ids, which
// start at the count, are free.
std::vector<std::string> by_rank(std::vector<Entry> entries, const std::string& file) {
  std::vector<std::string> tokens(entries.size());
  for (Entry& entry : entries) {
    if (static_cast<size_t>(entry.rank) >= tokens.size()) {
      throw Error(Status::kFormat, concat(file, ": rank ", entry.rank, " in a file of ",
                                          tokens.size(), " tokens; incomplete download?"));
    }
    std::string& slot = tokens[static_cast<size_t>(entry.rank)];
    if (!slot.empty()) {
      throw Error(Status::kFormat, concat(file, ": rank ", entry.rank, " is there twice"));
    }
    slot = std::move(entry.bytes);
  }
  return tokens;
}

// A flat object of integers, keys in the file's order (a DOM would sort them or search each one
// among all before it).
class OrderedIds : public nlohmann::json_sax<json> {
 public:
  bool start_object(size_t) override { return ++depth_ == 1; }
  bool end_object() override { return --depth_ == 0; }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return names_.insert(key_).second;
  }
  bool number_integer(int64_t value) override { return take(value); }
  bool number_unsigned(uint64_t value) override {
    return value <= INT64_MAX && take(static_cast<int64_t>(value));
  }
  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_float(double, const std::string&) override { return false; }
  bool string(std::string&) override { return false; }
  bool binary(json::binary_t&) override { return false; }
  bool start_array(size_t) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::vector<std::pair<std::string, int64_t>> tokens;
  const std::string& last_key() const { return key_; }

 private:
  bool take(int64_t value) {
    if (depth_ != 1) return false;
    tokens.emplace_back(key_, value);
    return true;
  }
  int depth_ = 0;
  std::string key_;
  std::set<std::string> names_;
};

}  // namespace

RankMerges read_tiktoken(std::string_view text, const std::string& file) {
  std::vector<Entry> entries;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("= ")) continue;
    entries.push_back(read_line(line, file, number));
  }
  if (entries.empty()) throw Error(Status::kFormat, concat(file, ": holds no tokens"));
  return RankMerges(by_rank(std::move(entries), file));
}

std::vector<std::pair<std::string, int64_t>> read_special_tokens(std::string_view text,
                                                                 const std::string& file) {
  OrderedIds reader;
  if (!json::sax_parse(text, &reader)) {
    throw Error(Status::kFormat,
                concat(file, ": is no JSON object of tokens and ids",
                       reader.last_key().empty() ? std::string()
                                                 : concat(" (the fault is at or behind '",
                                                          io::printable(reader.last_key()), "')")));
  }
  return std::move(reader.tokens);
}

}  // namespace remora::text

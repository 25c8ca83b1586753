#include "text/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"
#include "text/speaker_tag.h"

namespace remora::text {
namespace {

constexpr std::string_view kEndToken = "<|im_end|>";

// The code of "<|semantic:5|>"; nothing for another name or another spelling of the number.
std::optional<int32_t> semantic_code(std::string_view name) {
  constexpr std::string_view kOpen = "<|semantic:";
  constexpr std::string_view kClose = "|>";
  if (!name.starts_with(kOpen) || !name.ends_with(kClose)) return std::nullopt;
  const std::string_view digits =
      name.substr(kOpen.size(), name.size() - kOpen.size() - kClose.size());
  int32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || code < 0 || concat(code) != digits) return std::nullopt;
  return code;
}

}  // namespace

Vocabulary::Vocabulary(std::string file) : file_(std::move(file)) { byte_ids_.fill(-1); }

void Vocabulary::fail(std::string_view reason) const {
  throw Error(Status::kFormat, concat(file_, ": ", reason));
}

void Vocabulary::put(int32_t id, std::string bytes) {
  if (id < 0 || id > kMaxId) {
    fail(concat("token id ", id, " is outside 0..", kMaxId));
  }
  const auto index = static_cast<size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  Token& token = tokens_[index];
  if (token.known && token.bytes != bytes) {
    fail(concat("id ", id, " is given to two tokens, '", io::printable(token.bytes), "' and '",
                io::printable(bytes), "'"));
  }
  token = {std::move(bytes), true};
}

void Vocabulary::add(int32_t id, std::string bytes) {
  if (contains(id)) fail(concat("id ", id, " is given to two tokens"));
  if (bytes.empty()) fail(concat("token ", id, " is empty"));
  if (bytes.size() == 1) {
    int32_t& slot = byte_ids_[static_cast<unsigned char>(bytes[0])];
    if (slot >= 0) fail(concat("ids ", slot, " and ", id, " are the same single byte"));
    slot = id;
  }
  if (bytes.starts_with("<|") && bytes.ends_with("|>")) put_name(bytes, id);
  put(id, std::move(bytes));
}

void Vocabulary::add_unreachable(int32_t id, const std::string& content) {
  put_name(content, id);
  put(id, content);
}

void Vocabulary::add_added(int32_t id, const std::string& content) {
  if (content.size() > AddedTokens::kMaxBytes) {
    fail(concat("the added token '", io::printable(content), "' with id ", id, " has ",
                content.size(), " bytes, at most ", AddedTokens::kMaxBytes, " are supported"));
  }
  put_name(content, id);
  put(id, content);
  added_.add(content, id);
  if (!content.empty() && speaker_tag_length(content, 0) == content.size()) {
    speaker_tags_.add(content, id);
  }
}

void Vocabulary::put_name(std::string_view name, int32_t id) {
  const bool there = names_.id_of(name).has_value();
  if (!names_.add(name, id)) {
    fail(name.empty() ? concat("the added token with id ", id, " is empty")
                      : concat("token '", io::printable(name), "' has two ids, one is ", id));
  }
  if (const auto code = semantic_code(name); code && !there) semantic_.emplace_back(*code, id);
}

void Vocabulary::finish() {
  check_bytes();
  const auto end = id_of(kEndToken);
  if (!end) fail(concat("has no token ", kEndToken, "; is it this model's tokenizer?"));
  end_token_ = *end;
  find_semantic_range();
}

void Vocabulary::check_bytes() const {
  const auto missing = std::find(byte_ids_.begin(), byte_ids_.end(), -1);
  if (missing == byte_ids_.end()) return;
  fail(concat("has no token for byte ", missing - byte_ids_.begin(),
              "; a byte-level vocabulary has one for each of the 256"));
}

void Vocabulary::find_semantic_range() {
  if (semantic_.empty()) {
    fail("has no semantic tokens (<|semantic:0|> and so on); is it this model's tokenizer?");
  }
  std::sort(semantic_.begin(), semantic_.end());
  const int32_t first = semantic_.front().second;
  for (size_t i = 0; i < semantic_.size(); ++i) {
    const auto [code, id] = semantic_[i];
    if (code != static_cast<int32_t>(i)) fail(concat("has no token <|semantic:", i, "|>"));
    if (id != first + code) {
      fail(concat("<|semantic:", code, "|> has id ", id, ", expected ", first + code,
                  ": semantic ids must follow one another"));
    }
  }
  semantic_begin_ = first;
  semantic_end_ = semantic_.back().second;
}

}  // namespace remora::text

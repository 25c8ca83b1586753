// The regular expression of a tokenizer file: a first line, and the text that it cuts.
#include "fuzz.h"

#include <optional>
#include <vector>

#include "text/pretokenizer.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  const std::string_view all = fuzz::text_of(data, size);
  const size_t line = std::min(all.find('\n'), all.size());
  const std::string text = text::replace_invalid_utf8(std::string(all.substr(line)));
  std::optional<text::PreTokenizer> pre;
  if (!fuzz::accepts([&] { pre.emplace(all.substr(0, line), "tokenizer.json"); })) return 0;
  std::vector<std::string_view> words;
  if (!fuzz::accepts([&] { pre->split(text, words); })) return 0;
  std::string joined;
  for (const std::string_view word : words) joined += word;
  fuzz::require(joined == text, "the words joined are the text");
  return 0;
}

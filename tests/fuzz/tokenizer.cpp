// Tokenizer files. The first byte says which: 0 a tokenizer.json, else special_tokens.json, a line
// "--" and tokenizer.tiktoken. What is accepted must take a text and give it back.
#include "fuzz.h"

#include "io/memory_source.h"
#include "text/tokenizer.h"

namespace {

constexpr std::string_view kBetween = "\n--\n";
// Plain ASCII, so that no normal form changes it.
constexpr std::string_view kText =
    "Hello <|speaker:1|> it's 1234  w\n\n<|im_end|> end!? aaaaaaaaaaaa";

std::map<std::string, std::string, std::less<>> files_of(uint8_t kind, std::string_view rest) {
  if (kind == '0') return {{"tokenizer.json", std::string(rest)}};
  const size_t cut = rest.find(kBetween);
  if (cut == std::string_view::npos) return {};
  return {{"special_tokens.json", std::string(rest.substr(0, cut))},
          {"tokenizer.tiktoken", std::string(rest.substr(cut + kBetween.size()))}};
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  if (size == 0) return 0;
  std::unique_ptr<const text::Tokenizer> tokenizer;
  const test::MemoryFiles files(files_of(data[0], fuzz::text_of(data + 1, size - 1)));
  if (!fuzz::accepts([&] { tokenizer = text::load_tokenizer(files); })) return 0;
  fuzz::accepts([&] {
    for (const auto mode : {text::ControlTokens::kAsText, text::ControlTokens::kAllowed}) {
      const auto ids = tokenizer->encode(kText, mode);
      fuzz::require(tokenizer->decode(ids) == kText, "a text is the same after encode and decode");
    }
  });
  return 0;
}

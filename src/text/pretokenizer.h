// Cuts text into pre-tokens by the regular expression that a tokenizer file gives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace remora::text {

// Immutable and safe from several threads.
class PreTokenizer {
 public:
  // `pattern` in the syntax that tokenizer files use (Unicode classes, lookahead); `file` is for
  // messages. Throws Error{kFormat} with the place in the pattern when it does not compile.
  PreTokenizer(std::string_view pattern, const std::string& file);
  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

  // Every match and every gap between matches, in order: joined they equal `text`, which must be
  // valid UTF-8. Replaces the content of `out`. Memory beyond `out` is bounded whatever the text
  // is; a pattern that backtracks beyond reason is Error{kUnsupported}.
  void split(std::string_view text, std::vector<std::string_view>& out) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
  std::string file_;
};

}  // namespace remora::text

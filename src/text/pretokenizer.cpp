#include "text/pretokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/concat.h"
#include "base/error.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

constexpr size_t kMaxPattern = 64 * 1024;
constexpr uint32_t kHeapLimitKib = 64 * 1024;  // backtracking memory of the interpreter

// A match begins with few steps and sees little of the text behind its start. Where that does not
// do it gets more of either, by this factor, and what it then had counts against the whole text:
// otherwise a pattern could take the largest effort at every place.
constexpr uint32_t kFirstSteps = 256;
constexpr size_t kFirstWindow = 256;  // bytes
constexpr uint32_t kMoreByFactor = 8;
// Of a whole text: `base + rate * bytes`. A run over all of a text, stepped back over once or
// twice, comes to 40 a byte.
constexpr uint64_t kEffortBase = 100'000;
constexpr uint64_t kEffortPerByte = 256;
constexpr uint64_t kMostEffort = uint64_t{1} << 31;  // of one match; a limit has 32 bits

std::string message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// \s means the Unicode property White_Space to the engines that tokenizer files are written for;
// PCRE2's own \s has U+180E in addition.
std::string with_unicode_spaces(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out.push_back(pattern[i]);
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out.append("\\p{White_Space}");
    } else if (escaped == 'S') {
      out.append("\\P{White_Space}");
    } else {
      out.push_back('\\');
      out.push_back(escaped);
    }
  }
  return out;
}

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
using CodePtr = std::unique_ptr<pcre2_code, FreeCode>;
using MatchPtr = std::unique_ptr<pcre2_match_data, FreeMatch>;
using ContextPtr = std::unique_ptr<pcre2_match_context, FreeContext>;

CodePtr compile(std::string_view pattern, const std::string& file) {
  if (pattern.size() > kMaxPattern) {
    throw Error(Status::kFormat,
                concat(file, ": the pre-tokenizer pattern has ", pattern.size(), " bytes"));
  }
  const std::string translated = with_unicode_spaces(pattern);
  int code = 0;
  PCRE2_SIZE offset = 0;
  CodePtr compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_ANCHORED,
                                 &code, &offset, nullptr));
  if (!compiled) {
    throw Error(Status::kFormat, concat(file, ": the pre-tokenizer pattern does not compile: ",
                                        message(code), " at character ", offset));
  }
  // Only faster: where executable memory is not to be had, the interpreter runs.
  pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  return compiled;
}

// One pass over one text.
class Matcher {
 public:
  Matcher(const pcre2_code* code, std::string_view text, const std::string& file)
      : code_(code),
        text_(text),
        file_(file),
        match_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)),
        effort_left_(kEffortBase + kEffortPerByte * text.size()) {
    if (!match_ || !context_) throw Error(Status::kOutOfMemory, "text: no memory to match");
    pcre2_set_heap_limit(context_.get(), kHeapLimitKib);
    set_steps(kFirstSteps);
  }

  // The end of the non-empty match that begins at `at`, or nothing.
  std::optional<size_t> match_at(size_t at) {
    size_t window = kFirstWindow;
    for (uint32_t more = 0;;) {
      const int result = run(at, window, more);
      if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
      if (result == PCRE2_ERROR_PARTIAL) {
        window *= kMoreByFactor;
        take_effort(std::min(window, text_.size() - at), at);
      } else if (result == PCRE2_ERROR_MATCHLIMIT) {
        take_effort(uint64_t{steps_} * kMoreByFactor, at);
        set_steps(steps_ * kMoreByFactor);
      } else if (result == PCRE2_ERROR_JIT_STACKLIMIT && more == 0) {
        // The compiled form runs on a small stack of its own; the interpreter has the heap.
        more = PCRE2_NO_JIT;
      } else {
        return end_of_match(result, at);
      }
    }
  }

 private:
  // Up to `window` bytes behind `at`: a match for which those are not enough to be sure is partial.
  int run(size_t at, size_t window, uint32_t more) {
    size_t end = text_.size();
    if (window < end - at) {
      end = at + window;
      while ((static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) --end;  // within a character
      more |= PCRE2_PARTIAL_HARD;
    }
    // The caller has checked the text; a check at each match would make the pass quadratic.
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), end, at,
                       PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | more, match_.get(), context_.get());
  }

  size_t end_of_match(int result, size_t at) {
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(match_.get());
    if (result < 0 || offsets[0] != at || offsets[1] <= at) {
      fail(at, result < 0 ? message(result) : "a match elsewhere than it began");
    }
    if (steps_ != kFirstSteps) set_steps(kFirstSteps);
    return offsets[1];
  }

  void set_steps(uint32_t steps) {
    steps_ = steps;
    pcre2_set_match_limit(context_.get(), steps);
  }

  void take_effort(uint64_t effort, size_t at) {
    if (effort > std::min(effort_left_, kMostEffort))
      fail(at, "it takes too many steps for a text of this length");
    effort_left_ -= effort;
  }

  [[noreturn]] void fail(size_t at, std::string_view reason) const {
    throw Error(Status::kUnsupported, concat(file_, ": the pre-tokenizer pattern failed at byte ",
                                             at, " of the text: ", reason));
  }

  const pcre2_code* code_;
  std::string_view text_;
  const std::string& file_;
  MatchPtr match_;
  ContextPtr context_;
  uint64_t effort_left_;
  uint32_t steps_ = kFirstSteps;
};

}  // namespace

struct PreTokenizer::Code {
  CodePtr pattern;
};

PreTokenizer::PreTokenizer(std::string_view pattern, const std::string& file)
    : code_(std::make_unique<Code>(Code{compile(pattern, file)})), file_(file) {}
PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

void PreTokenizer::split(std::string_view text, std::vector<std::string_view>& out) const {
  out.clear();
  if (text.empty()) return;
  Matcher matcher(code_->pattern.get(), text, file_);
  size_t done = 0;  // up to here the text is cut
  for (size_t at = 0; at < text.size();) {
    const std::optional<size_t> end = matcher.match_at(at);
    if (!end) {
      at += code_point_at(text, at).length;
      continue;
    }
    if (at > done) out.push_back(text.substr(done, at - done));
    out.push_back(text.substr(at, *end - at));
    at = done = *end;
  }
  if (done < text.size()) out.push_back(text.substr(done));
}

}  // namespace remora::text

#include "text/pretokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/concat.h"
#include "base/error.h"

namespace remora::text {
namespace {

constexpr size_t kMaxPattern = 64 * 1024;
constexpr uint32_t kHeapLimitKib = 64 * 1024;  // backtracking memory of the interpreter
// Steps of one match: a greedy repeat over the whole text may step back over all of it once or
// twice, more means a pattern that explodes.
constexpr size_t kMinSteps = 10'000'000;
constexpr size_t kStepsPerByte = 16;

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
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
                                 nullptr));
  if (!compiled) {
    throw Error(Status::kFormat, concat(file, ": the pre-tokenizer pattern does not compile: ",
                                        message(code), " at character ", offset));
  }
  // Only faster: where executable memory is not to be had, the interpreter runs.
  pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
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
        context_(pcre2_match_context_create(nullptr)) {
    if (!match_ || !context_) throw Error(Status::kOutOfMemory, "text: no memory to match");
    const size_t steps = std::max(kMinSteps, text.size() * kStepsPerByte);
    pcre2_set_match_limit(context_.get(), static_cast<uint32_t>(std::min<size_t>(
                                              steps, std::numeric_limits<uint32_t>::max())));
    pcre2_set_heap_limit(context_.get(), kHeapLimitKib);
  }

  // The next non-empty match from `from` on.
  bool next(size_t from, size_t& begin, size_t& end) {
    int result = run(from, 0);
    // The compiled form runs on a small stack of its own; the interpreter has the heap.
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(from, PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return false;
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(match_.get());
    if (result < 0 || offsets[0] < from || offsets[1] <= offsets[0]) {
      throw Error(Status::kUnsupported,
                  concat(file_, ": the pre-tokenizer pattern failed at byte ", from,
                         " of the text: ", result < 0 ? message(result) : "a backward match"));
    }
    begin = offsets[0];
    end = offsets[1];
    return true;
  }

 private:
  int run(size_t from, uint32_t more) {
    // The caller has checked the text; a check at each match would make the pass quadratic.
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), from,
                       PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | more, match_.get(), context_.get());
  }

  const pcre2_code* code_;
  std::string_view text_;
  const std::string& file_;
  MatchPtr match_;
  ContextPtr context_;
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
  size_t done = 0;
  size_t begin = 0;
  size_t end = 0;
  while (done < text.size() && matcher.next(done, begin, end)) {
    if (begin > done) out.push_back(text.substr(done, begin - done));
    out.push_back(text.substr(begin, end - begin));
    done = end;
  }
  if (done < text.size()) out.push_back(text.substr(done));
}

}  // namespace remora::text

// Parts of a text that no cut may fall into.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/tags.h"

namespace remora::text {

enum class SpanKind {
  kOpaque,
  kBracketTag,  // these two belong to what follows them
  kSpeakerTag,
};

struct ProtectedSpan {
  Span span;
  SpanKind kind = SpanKind::kOpaque;
};

// [tags], speaker tags, URLs and mail addresses, numbers ("3.14", "1,250", "14:05", "7.5%"),
// abbreviations with their dot ("Dr.", "e.g.", "z. B.", "No." before a number), in order, not
// overlapping. Longer parts than `max_bytes` are left out. `text` must be valid UTF-8. Linear.
std::vector<ProtectedSpan> find_protected_spans(std::string_view text, Brackets brackets,
                                                size_t max_bytes);

}  // namespace remora::text

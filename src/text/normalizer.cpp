#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Canonical decomposition, not yet in canonical order.
std::vector<utf8proc_int32_t> decompose(std::string_view text) {
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  std::array<utf8proc_int32_t, 32> parts;  // the longest canonical decomposition has 4 code points
  for (size_t offset = 0; offset < text.size();) {
    const CodePoint point = code_point_at(text, offset);
    offset += point.length;
    int boundary = 0;
    const auto count = utf8proc_decompose_char(
        static_cast<utf8proc_int32_t>(point.value), parts.data(), parts.size(),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      throw Error(Status::kInternal,
                  concat("text: U+", static_cast<uint32_t>(point.value), " cannot be decomposed"));
    }
    out.insert(out.end(), parts.begin(), parts.begin() + count);
  }
  return out;
}

// Canonical order: each run of marks sorted by combining class. utf8proc's own ordering swaps
// neighbours, which is quadratic on a long run.
void order_marks(std::vector<utf8proc_int32_t>& points) {
  for (auto it = points.begin(); it != points.end();) {
    if (combining_class(*it) == 0) {
      ++it;
      continue;
    }
    const auto run_end =
        std::find_if(it, points.end(), [](auto point) { return combining_class(point) == 0; });
    std::stable_sort(it, run_end,
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    it = run_end;
  }
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  // 0xCC is the first byte of U+0300.
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });
}

std::string to_nfc(std::string_view text) {
  if (is_surely_nfc(text)) return std::string(text);
  std::vector<utf8proc_int32_t> points = decompose(text);
  order_marks(points);
  const auto count =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (count < 0) {
    throw Error(Status::kInternal, concat("text: NFC failed: ", utf8proc_errmsg(count)));
  }
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(out, static_cast<char32_t>(points[static_cast<size_t>(i)]));
  }
  return out;
}

}  // namespace remora::text

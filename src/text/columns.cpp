#include "text/columns.h"

namespace remora::text {

void Columns::append_text(std::span<const int32_t> ids) {
  const auto stride = static_cast<size_t>(rows);
  size_t at = values.size();
  values.resize(at + ids.size() * stride, 0);
  for (const int32_t id : ids) {
    values[at] = id;
    at += stride;
  }
}

void Columns::append_codes(std::span<const int32_t> codes, size_t frames, int32_t semantic_begin) {
  values.reserve(values.size() + frames * static_cast<size_t>(rows));
  for (size_t frame = 0; frame < frames; ++frame) {
    values.push_back(semantic_begin + codes[frame]);
    for (size_t book = 0; book + 1 < static_cast<size_t>(rows); ++book) {
      values.push_back(codes[book * frames + frame]);
    }
  }
}

void Columns::append(const Columns& other) {
  values.insert(values.end(), other.values.begin(), other.values.end());
}

}  // namespace remora::text

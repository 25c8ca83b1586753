// The prompt as the language model takes it: one column for each position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace remora::text {

// `rows` = 1 + number of codebooks. Column t lies at values[t * rows]: row 0 the main token, rows 1
// to N the codes, all zero in a text column.
struct Columns {
  int32_t rows = 1;
  std::vector<int32_t> values;

  size_t count() const { return values.size() / static_cast<size_t>(rows); }
  int32_t main_token(size_t column) const { return values[column * static_cast<size_t>(rows)]; }

  void append_text(std::span<const int32_t> ids);
  // `codes`: [rows - 1, frames] row-major, at least one row. Main token = `semantic_begin` + the
  // code of codebook 0.
  void append_codes(std::span<const int32_t> codes, size_t frames, int32_t semantic_begin);
  // `other` has as many rows.
  void append(const Columns& other);
};

}  // namespace remora::text

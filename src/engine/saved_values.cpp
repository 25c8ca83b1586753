#include "engine/saved_values.h"

#include "base/concat.h"
#include "text/utf8.h"

namespace remora::engine {

void refuse_state(std::string_view reason) {
  throw Error(Status::kFormat, concat("session state: ", reason));
}

int64_t checked_number(int64_t value, int64_t lowest, int64_t highest, std::string_view what) {
  if (value >= lowest && value <= highest) return value;
  refuse_state(concat(what, " is ", value, ", ", lowest, " to ", highest, " is possible"));
}

std::string read_utf8(ByteReader& in, std::string_view what) {
  std::string text = in.text();
  if (const auto fault = text::find_utf8_fault(text)) {
    refuse_state(concat(what, ": byte ", fault->offset, " is not valid UTF-8"));
  }
  return text;
}

std::vector<int32_t> read_codes(ByteReader& in, int64_t rows, int64_t entries,
                                std::string_view what) {
  std::vector<int32_t> codes = in.numbers<int32_t>();
  if (codes.size() % static_cast<size_t>(rows) != 0) {
    refuse_state(concat(what, ": ", codes.size(), " codes are no whole frames of ", rows));
  }
  for (const int32_t code : codes) checked_number(code, 0, entries - 1, what);
  return codes;
}

}  // namespace remora::engine

#include "lm/table.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include "base/error.h"

namespace remora::lm {
namespace {

template <typename T, typename Store>
void each(const at::Tensor& table, int64_t row, std::span<float> out, Store store) {
  const auto columns = static_cast<int64_t>(out.size());
  const T* from = static_cast<const T*>(table.const_data_ptr()) + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    store(out[static_cast<size_t>(i)], static_cast<float>(from[i]));
  }
}

template <typename Store>
void of_any_type(const at::Tensor& table, int64_t row, std::span<float> out, Store store) {
  switch (table.scalar_type()) {
    case at::kFloat:
      return each<float>(table, row, out, store);
    case at::kBFloat16:
      return each<c10::BFloat16>(table, row, out, store);
    case at::kHalf:
      return each<c10::Half>(table, row, out, store);
    default:
      throw Error(Status::kInternal, "look-up table of another type than float");
  }
}

}  // namespace

void read_row(const at::Tensor& table, int64_t row, std::span<float> out) {
  of_any_type(table, row, out, [](float& to, float value) { to = value; });
}

void add_row(const at::Tensor& table, int64_t row, std::span<float> out) {
  of_any_type(table, row, out, [](float& to, float value) { to += value; });
}

}  // namespace remora::lm

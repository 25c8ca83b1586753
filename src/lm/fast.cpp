#include "lm/fast.h"

namespace remora::lm {

at::Tensor FastModel::embed(int32_t code, at::ScalarType dtype, at::Device device) const {
  return parts_.embeddings.narrow(0, code, 1).to(device, dtype);
}

at::Tensor FastModel::output(const at::Tensor& x) const {
  const at::Tensor last = x.narrow(0, x.size(0) - 1, 1);
  return parts_.head(transformer_.norm(last, parts_.norm)).select(0, 0).to(at::kFloat);
}

uint64_t FastModel::bytes() const {
  return transformer_.bytes() + parts_.embeddings.nbytes() + parts_.norm.nbytes() +
         parts_.head.bytes();
}

}  // namespace remora::lm

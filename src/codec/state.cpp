#include "codec/state.h"

#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/concat.h"
#include "base/error.h"

namespace remora::codec {
namespace {

void check_slot(const StateSlot& slot, const at::Tensor& value, int64_t frames) {
  std::vector<int64_t> expected = slot.shape;
  if (slot.growing_axis >= 0) {
    // Frames are capped first, so that the product cannot overflow.
    expected[static_cast<size_t>(slot.growing_axis)] =
        std::min(std::min(frames, slot.most) * slot.per_frame, slot.most);
  }
  if (value.sizes() == expected && value.scalar_type() == slot.dtype) return;
  throw Error(Status::kInvalidArgument,
              concat("codec stream state: ", slot.name, " is ", shape_text(value.sizes()),
                     ", expected ", shape_text(expected), "; was it saved with another codec?"));
}

}  // namespace

CarriedState::CarriedState(const StateLayout& layout, at::Device device) : device_(device) {
  tensors_.reserve(layout.slots().size());
  for (const StateSlot& slot : layout.slots()) {
    tensors_.push_back(at::zeros(slot.shape, at::TensorOptions().dtype(slot.dtype).device(device)));
  }
}

void CarriedState::restore(const StateLayout& layout, const std::vector<at::Tensor>& tensors,
                           int64_t frames) {
  if (tensors.size() != layout.slots().size() || frames < 0) {
    throw Error(Status::kInvalidArgument,
                concat("codec stream state: ", tensors.size(), " tensors behind ", frames,
                       " frames, this codec carries ", layout.slots().size(),
                       "; was it saved with another codec?"));
  }
  std::vector<at::Tensor> taken;
  taken.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    check_slot(layout.slots()[i], tensors[i], frames);
    taken.push_back(tensors[i].to(device_).clone());
  }
  tensors_ = std::move(taken);
  frames_ = frames;
}

uint64_t CarriedState::bytes() const {
  uint64_t total = 0;
  for (const at::Tensor& tensor : tensors_) total += tensor.nbytes();
  return total;
}

}  // namespace remora::codec

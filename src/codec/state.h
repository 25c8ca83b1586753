// What a stream carries from one piece to the next.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace remora::codec {

// One carried tensor.
struct StateSlot {
  std::string name;            // such as "conv_tail/decoder.model.0"
  std::vector<int64_t> shape;  // at the start of a stream
  at::ScalarType dtype = at::kFloat;
  int64_t growing_axis = -1;  // -1: the shape never changes
  int64_t per_frame = 0;      // growth of that axis with each code frame ...
  int64_t most = 0;           // ... until it has this extent
};

// Filled while a network is built: each module registers what it carries and keeps the slot's
// number.
class StateLayout {
 public:
  size_t add(StateSlot slot) {
    slots_.push_back(std::move(slot));
    return slots_.size() - 1;
  }
  // Rows of a causal convolution's input, zero at the start of a stream. [rows, channels]
  size_t add_rows(std::string name, int64_t rows, int64_t channels, at::ScalarType dtype) {
    return add({std::move(name), {rows, channels}, dtype});
  }
  const std::vector<StateSlot>& slots() const { return slots_; }

 private:
  std::vector<StateSlot> slots_;
};

// The carried tensors of one stream. A module replaces a tensor, never writes into one: a copy of
// this object is a cheap, independent snapshot.
class CarriedState {
 public:
  CarriedState() = default;
  CarriedState(const StateLayout& layout, at::Device device);

  at::Device device() const { return device_; }
  const at::Tensor& operator[](size_t slot) const { return tensors_[slot]; }
  void set(size_t slot, at::Tensor value) { tensors_[slot] = std::move(value); }

  // Code frames behind this state: rotary positions are absolute.
  int64_t frames() const { return frames_; }
  void advance(int64_t frames) { frames_ += frames; }

  // In the layout's order, for saving.
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

  // Takes tensors saved earlier (copied). Throws Error{kInvalidArgument} when count, shape or dtype
  // is not what a stream of this layout holds after `frames` frames.
  void restore(const StateLayout& layout, const std::vector<at::Tensor>& tensors, int64_t frames);

  uint64_t bytes() const;

 private:
  std::vector<at::Tensor> tensors_;
  at::Device device_ = at::kCPU;
  int64_t frames_ = 0;
};

}  // namespace remora::codec

// Codec tensors by name, in the form the modules compute with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "io/weight_loader.h"

namespace remora::codec {

// Checked before each tensor and told after it; both may be null.
struct LoadWatch {
  const CancelFlag* cancel = nullptr;
  std::function<void(float)> progress{};  // fraction of the dict's bytes
};

// Reads from a StateDict whose names are already plain (see names.h). A missing or misshaped tensor
// is recorded and comes back on the meta device, which holds no numbers, so that a wrong
// configuration cannot ask for memory; finish() then throws one error for all of them. Where only
// shapes are read, every tensor comes so, and bytes() counts what the numbers would take.
class Weights {
 public:
  Weights(const io::StateDict& dict, at::ScalarType compute, at::Device device,
          io::Reading reading = io::Reading::kNumbers, LoadWatch watch = {});

  // As stored, in float32.
  at::Tensor plain(std::string_view name, const std::vector<int64_t>& shape);

  // The weight of convolution or projection `module` in float32: stored whole as MODULE.weight, or
  // as direction and magnitude (weight_v and weight_g, or parametrizations.weight.original1 and
  // original0), then multiplied out: v * g / |v|, the norm over every axis but the first.
  at::Tensor folded(std::string_view module, const std::vector<int64_t>& shape);

  // A plain matrix in the compute type, on the device.
  at::Tensor matrix(std::string_view name, const std::vector<int64_t>& shape) {
    return computed(plain(name, shape));
  }
  // A float32 tensor on the device: biases, norms, scales.
  at::Tensor constant(std::string_view name, const std::vector<int64_t>& shape) {
    return placed(plain(name, shape));
  }

  // Onto the device: as it is, or in the compute type. What is on the meta device stays there.
  at::Tensor placed(const at::Tensor& value);
  at::Tensor computed(const at::Tensor& value);

  // The same for a module that keeps the value in another arrangement: not counted here, the
  // module counts what it holds in the end.
  at::Tensor moved(const at::Tensor& value, at::ScalarType type) const;
  void count(uint64_t bytes) { bytes_ += bytes; }

  // Bytes given out by placed() and computed(), and those of count().
  uint64_t bytes() const { return bytes_; }

  at::ScalarType compute() const { return compute_; }
  // The compute type of the modules that are built from here on.
  void compute_in(at::ScalarType type) { compute_ = type; }
  at::Device device() const { return device_; }
  bool has(std::string_view name) const { return loader_.has(name); }

  // Throws Error{kFormat} if a tensor was missing or misshaped.
  void finish() const;

 private:
  at::Tensor counted(const at::Tensor& value);

  const io::StateDict& dict_;
  io::WeightLoader loader_;
  at::ScalarType compute_;
  at::Device device_;
  LoadWatch watch_;
  uint64_t bytes_ = 0;
  uint64_t total_ = 0;  // bytes in the dict
  uint64_t read_ = 0;   // and of them read so far
};

}  // namespace remora::codec

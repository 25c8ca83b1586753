// A step that is captured once where the device can replay it, and simply called elsewhere.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace remora::nn {

// Not thread-safe.
class StepGraph {
 public:
  explicit StepGraph(c10::Device device);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // On CUDA the first call warms `step` up, captures and runs it, later ones replay what was
  // captured and do not call `step`: it must read and write the same tensors each time, with no
  // host number that changes. On other devices `step` is called each time.
  void run(const std::function<void()>& step);

  // How often a step was captured so far: 0 or 1.
  uint64_t captures() const;

 private:
  struct Capture;
  c10::Device device_;
  std::unique_ptr<Capture> capture_;
};

}  // namespace remora::nn

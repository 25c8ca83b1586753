// StepGraph on CUDA devices; compiled in place of step_graph.cpp where LibTorch has CUDA.
//
// Guards and streams are the device-independent ones: those of c10/cuda are inline code that would
// have to be linked to the CUDA run time itself, which comes with LibTorch and in its version.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "nn/step_graph.h"

namespace remora::nn {

struct StepGraph::Capture {
  at::cuda::CUDAGraph graph;
};

StepGraph::StepGraph(c10::Device device) : device_(device) {}
StepGraph::~StepGraph() = default;

namespace {

// A capture must be ended on its stream also when the step throws.
void capture(at::cuda::CUDAGraph& graph, const std::function<void()>& step) {
  // Other threads of the host may allocate or synchronise meanwhile.
  graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  try {
    step();
  } catch (...) {
    try {
      graph.capture_end();
    } catch (const c10::Error&) {
      // The broken capture; the step's own error is the one that tells.
    }
    throw;
  }
  graph.capture_end();
}

}  // namespace

void StepGraph::run(const std::function<void()>& step) {
  if (!device_.is_cuda()) {
    step();
    return;
  }
  const c10::DeviceGuard device(device_);
  if (capture_ == nullptr) {
    const c10::impl::VirtualGuardImpl cuda(c10::kCUDA);
    // What was queued so far comes first: the capture runs on a stream of its own.
    cuda.getStream(device_).synchronize();
    const c10::Stream side = cuda.getStreamFromGlobalPool(device_);
    const c10::StreamGuard stream(side);
    step();  // libraries create their handles and choose kernels here: a capture may not
    side.synchronize();
    auto fresh = std::make_unique<Capture>();
    capture(fresh->graph, step);
    capture_ = std::move(fresh);
  }
  capture_->graph.replay();
}

uint64_t StepGraph::captures() const { return capture_ == nullptr ? 0 : 1; }

}  // namespace remora::nn

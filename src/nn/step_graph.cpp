// StepGraph where LibTorch has no CUDA: the step is called each time.
#include "nn/step_graph.h"

namespace remora::nn {

struct StepGraph::Capture {};

StepGraph::StepGraph(c10::Device device) : device_(device) {}
StepGraph::~StepGraph() = default;

void StepGraph::run(const std::function<void()>& step) { step(); }

uint64_t StepGraph::captures() const { return 0; }

}  // namespace remora::nn

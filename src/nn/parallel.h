// Loops on the threads that LibTorch has for this process.
#pragma once

#include <cstdint>
#include <functional>

namespace remora::nn {

// Calls work(begin, end) for ranges that make up 0 .. count, on as many of LibTorch's threads as
// ranges of at least `grain` there are; within such a range on the caller's thread alone.
// The caller's inference mode holds in all of them. at::parallel_for is a template that shares
// nothing out in code compiled without OpenMP, as this library's is, so that LibTorch's own threads
// are the only ones.
void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace remora::nn

// Work on rows, shared out among threads.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdint>

#include "nn/parallel.h"

namespace remora::codec {

// Calls work(begin, end) for slices that make up 0 .. rows, one for each of the process's threads,
// cut at multiples of `granule` and not shorter than `least`. Whatever work() computes runs on its
// one thread: a sequence of operators costs one meeting of the threads instead of several each,
// which matters when another program keeps a core busy. With `together` there is one slice.
template <typename Work>
void in_slices(int64_t rows, int64_t granule, int64_t least, bool together, const Work& work) {
  const int64_t most = together ? 1 : std::min<int64_t>(at::get_num_threads(), rows / least);
  const int64_t share = (rows + std::max<int64_t>(most, 1) - 1) / std::max<int64_t>(most, 1);
  const int64_t length = (share + granule - 1) / granule * granule;
  const int64_t slices = (rows + length - 1) / length;
  if (slices <= 1) return work(int64_t{0}, rows);
  nn::parallel_for(slices, 1, [&](int64_t first, int64_t last) {
    const c10::InferenceMode inference;  // other threads do not inherit the caller's
    for (int64_t slice = first; slice < last; ++slice) {
      work(slice * length, std::min(rows, (slice + 1) * length));
    }
  });
}

}  // namespace remora::codec

// How fast this machine reads memory, which bounds how fast weights can pass through it.
#pragma once

#include "bench/timing.h"

namespace remora::cli {

// GB/s (10^9 bytes) of `threads` threads that each add up their share of a buffer far larger than
// any cache. Takes 1 GiB of memory for its time.
Samples read_bandwidth(int threads, int repeats);

}  // namespace remora::cli

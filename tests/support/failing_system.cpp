#include "support/failing_system.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace remora::test {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Plain numbers: nothing here may need memory itself.
thread_local int64_t t_left = kNever;  // requests until one fails
thread_local Failing t_mode = Failing::kOne;
thread_local bool t_reached = false;
thread_local int t_threads_left = 0;  // threads until one is refused; 0 = never
std::atomic<int64_t> g_blocks{0};

// Where libtorch_cpu lies in memory.
struct Range {
  uintptr_t begin = 0, end = 0;
};

int find_torch(dl_phdr_info* info, size_t /*size*/, void* found) {
  if (std::strstr(info->dlpi_name, "libtorch_cpu") == nullptr) return 0;
  auto& range = *static_cast<Range*>(found);
  range.begin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    range.end = std::max<uintptr_t>(range.end, range.begin + part.p_vaddr + part.p_memsz);
  }
  return 1;
}

bool is_in_torch(const void* caller) noexcept {
  static const Range range = [] {
    Range found;
    dl_iterate_phdr(find_torch, &found);
    return found;
  }();
  const auto address = reinterpret_cast<uintptr_t>(caller);
  return address >= range.begin && address < range.end;
}

bool fails_now(const void* caller) noexcept {
  if (t_left == kNever || is_in_torch(caller)) return false;
  if (--t_left > 0) return false;
  t_left = t_mode == Failing::kAllOn ? 1 : kNever;
  t_reached = true;
  return true;
}

void* block(size_t size, size_t alignment, const void* caller) noexcept {
  if (fails_now(caller)) return nullptr;
  // The sizes of aligned_alloc are whole numbers of alignments.
  const size_t wanted = (std::max<size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* memory = alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, wanted)
                                                       : std::malloc(std::max<size_t>(size, 1));
  if (memory != nullptr) g_blocks.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* block_or_throw(size_t size, size_t alignment, const void* caller) {
  void* memory = block(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  g_blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

FailingMemory::FailingMemory(int64_t nth, Failing mode) {
  t_reached = false;
  t_mode = mode;
  t_left = nth;
}
FailingMemory::~FailingMemory() { t_left = kNever; }
bool FailingMemory::reached() const { return t_reached; }

FailingThreads::FailingThreads(int nth) { t_threads_left = nth; }
FailingThreads::~FailingThreads() { t_threads_left = 0; }

int64_t blocks_in_use() { return g_blocks.load(std::memory_order_relaxed); }

}  // namespace remora::test

using remora::test::block;
using remora::test::block_or_throw;
using remora::test::give_back;

// The array forms of the standard library call these.
void* operator new(size_t size) { return block_or_throw(size, 1, __builtin_return_address(0)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return block_or_throw(size, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return block(size, 1, __builtin_return_address(0));
}
void* operator new(size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return block(size, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { give_back(memory); }
void operator delete(void* memory, size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/,
                     const std::nothrow_t& /*tag*/) noexcept {
  give_back(memory);
}

extern "C" {

__attribute__((visibility("default"))) int posix_memalign(void** memory, size_t alignment,
                                                          size_t size) noexcept {
  static const auto next =
      reinterpret_cast<decltype(&posix_memalign)>(dlsym(RTLD_NEXT, "posix_memalign"));
  return remora::test::fails_now(__builtin_return_address(0)) ? ENOMEM
                                                              : next(memory, alignment, size);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                          const pthread_attr_t* attributes,
                                                          void* (*start)(void*),
                                                          void* argument) noexcept {
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  int& left = remora::test::t_threads_left;
  return left > 0 && --left == 0 ? EAGAIN : next(thread, attributes, start, argument);
}

}  // extern "C"

#include "codec/snake_kernel.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "nn/parallel.h"

// The loop below is compiled for several instruction sets: the compiler turns it into vectors of
// each one's width, and the widest that this processor has is taken when the program runs.
#if defined(__x86_64__) && defined(__GNUC__)
#define REMORA_SNAKE_X86 1
#endif

namespace remora::codec {
namespace {

// Elements below which a second thread costs more than it saves.
constexpr int64_t kGrain = 1 << 14;

[[gnu::always_inline]] inline float widen(float value) { return value; }
[[gnu::always_inline]] inline float widen(c10::BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.x) << 16);
}
[[gnu::always_inline]] inline float widen(c10::Half value) { return static_cast<float>(value); }

[[gnu::always_inline]] inline void store(float value, float& out) { out = value; }
[[gnu::always_inline]] inline void store(float value, c10::BFloat16& out) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;  // to nearest even
  out.x = static_cast<uint16_t>(value == value ? rounded : 0x7FC0U);
}
[[gnu::always_inline]] inline void store(float value, c10::Half& out) { out = c10::Half(value); }

// sin(angle)^2: the period is pi, so the angle is brought to [-pi/2, pi/2], where a polynomial of
// degree 9 is within 5e-9 of the sine.
[[gnu::always_inline]] inline float squared_sine(float angle) {
  constexpr float kInversePi = 0.318309886F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  constexpr float kHalfPi = 1.57079633F;
  // pi in three parts, the first two short enough for exact products with whole numbers.
  constexpr float kPiHigh = 3.140625F, kPiMiddle = 9.67502593994140625e-4F,
                  kPiLow = 1.509957990978376432e-7F;
  const float turns = (angle * kInversePi + kRound) - kRound;
  float r = angle - turns * kPiHigh;
  r = r - turns * kPiMiddle;
  r = r - turns * kPiLow;
  // Holds for any angle up to 1e5; beyond, this keeps the result a squared sine of something.
  r = std::min(std::max(r, -kHalfPi), kHalfPi);
  const float r2 = r * r;
  float tail = 2.5999866e-06F;
  tail = tail * r2 - 1.9806584e-04F;
  tail = tail * r2 + 8.3330170e-03F;
  tail = tail * r2 - 1.6666657e-01F;
  const float sine = r + r * (r2 * tail);
  return sine * sine;
}

template <typename In, typename Out>
struct Job {
  const In* x;
  const float* alpha;
  const float* inverse;
  Out* out;
  int64_t channels;
};

template <typename In, typename Out>
[[gnu::always_inline]] inline void loop(const Job<In, Out>& job, int64_t begin, int64_t end) {
  const float* const alpha = job.alpha;
  const float* const inverse = job.inverse;
  const int64_t channels = job.channels;
  for (int64_t row = begin; row < end; ++row) {
    const In* const x = job.x + row * channels;
    Out* const out = job.out + row * channels;
    // In and out are either one array or two apart ones: no element depends on another.
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      const float value = widen(x[c]);
      store(value + inverse[c] * squared_sine(alpha[c] * value), out[c]);
    }
  }
}

#ifdef REMORA_SNAKE_X86
template <typename In, typename Out>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma,prefer-vector-width=512")]] void loop_avx512(
    const Job<In, Out>& job, int64_t begin, int64_t end) {
  loop(job, begin, end);
}
template <typename In, typename Out>
[[gnu::target("avx2,fma")]] void loop_avx2(const Job<In, Out>& job, int64_t begin, int64_t end) {
  loop(job, begin, end);
}
#endif
template <typename In, typename Out>
void loop_plain(const Job<In, Out>& job, int64_t begin, int64_t end) {
  loop(job, begin, end);
}

template <typename In, typename Out>
using Loop = void (*)(const Job<In, Out>&, int64_t, int64_t);

template <typename In, typename Out>
Loop<In, Out> best_loop() {
#ifdef REMORA_SNAKE_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return loop_avx512<In, Out>;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return loop_avx2<In, Out>;
#endif
  return loop_plain<In, Out>;
}

template <typename In, typename Out>
void run(const at::Tensor& x, const at::Tensor& alpha, const at::Tensor& inverse,
         const at::Tensor& out) {
  static const Loop<In, Out> chosen = best_loop<In, Out>();
  const Job<In, Out> job{x.const_data_ptr<In>(), alpha.const_data_ptr<float>(),
                         inverse.const_data_ptr<float>(), out.data_ptr<Out>(), x.size(1)};
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, job.channels));
  nn::parallel_for(x.size(0), grain, [&](int64_t begin, int64_t end) { chosen(job, begin, end); });
}

template <typename In>
void run_to(const at::Tensor& x, const at::Tensor& alpha, const at::Tensor& inverse,
            const at::Tensor& out) {
  switch (out.scalar_type()) {
    case at::kBFloat16:
      return run<In, c10::BFloat16>(x, alpha, inverse, out);
    case at::kHalf:
      return run<In, c10::Half>(x, alpha, inverse, out);
    default:
      return run<In, float>(x, alpha, inverse, out);
  }
}

}  // namespace

void snake_rows(const at::Tensor& x, const at::Tensor& alpha, const at::Tensor& inverse,
                const at::Tensor& out) {
  switch (x.scalar_type()) {
    case at::kBFloat16:
      return run_to<c10::BFloat16>(x, alpha, inverse, out);
    case at::kHalf:
      return run_to<c10::Half>(x, alpha, inverse, out);
    default:
      return run_to<float>(x, alpha, inverse, out);
  }
}

}  // namespace remora::codec

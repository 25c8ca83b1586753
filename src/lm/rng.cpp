#include "lm/rng.h"

#include <algorithm>

namespace remora::lm {
namespace {

constexpr int32_t kN = Mt19937::kWords;
constexpr int32_t kMiddle = 397;

// The generator's recurrence on the upper bit of one word and the lower bits of the next.
uint32_t twist(uint32_t high, uint32_t low) {
  constexpr uint32_t kUpper = 0x80000000U, kMatrix = 0x9908b0dfU;
  const uint32_t mixed = (high & kUpper) | (low & ~kUpper);
  return (mixed >> 1) ^ ((0U - (low & 1U)) & kMatrix);
}

uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

float uniform(uint32_t word) {
  constexpr float kStep = 1.0F / 16777216.0F;  // 2^-24
  const uint32_t low = temper(word) & 0xffffffU;
  return low == 0 ? kStep / 2 : static_cast<float>(low) * kStep;
}

void init_word(std::span<uint32_t, kN> state, uint32_t seed) {
  state[0] = seed;
  for (uint32_t i = 1; i < kN; ++i) {
    state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  }
}

// The generator's own initialisation from an array, for two words.
void init_pair(std::span<uint32_t, kN> state, const std::array<uint32_t, 2>& key) {
  init_word(state, 19650218U);
  int32_t i = 1;
  const auto advance = [&] {
    if (++i == kN) {
      state[0] = state[kN - 1];
      i = 1;
    }
  };
  for (int32_t k = 0; k < kN; ++k) {
    const uint32_t previous = state[i - 1] ^ (state[i - 1] >> 30);
    state[i] = (state[i] ^ (previous * 1664525U)) + key[k % 2] + static_cast<uint32_t>(k % 2);
    advance();
  }
  for (int32_t k = 0; k < kN - 1; ++k) {
    const uint32_t previous = state[i - 1] ^ (state[i - 1] >> 30);
    state[i] = (state[i] ^ (previous * 1566083941U)) - static_cast<uint32_t>(i);
    advance();
  }
  state[0] = 0x80000000U;
}

}  // namespace

Mt19937::Mt19937(uint64_t seed) {
  const auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  if (high == 0) {
    init_word(state_, low);
  } else {
    init_pair(state_, {low, high});
  }
}

void Mt19937::regenerate() {
  uint32_t* s = state_.data();
  for (int32_t k = 0; k < kN - kMiddle; ++k) s[k] = s[k + kMiddle] ^ twist(s[k], s[k + 1]);
  for (int32_t k = kN - kMiddle; k < kN - 1; ++k) {
    s[k] = s[k + kMiddle - kN] ^ twist(s[k], s[k + 1]);
  }
  s[kN - 1] = s[kMiddle - 1] ^ twist(s[kN - 1], s[0]);
  next_ = 0;
}

void Mt19937::draw(int64_t count, std::span<const int32_t> indices, std::span<float> out) {
  size_t filled = 0;
  for (int64_t done = 0; done < count;) {
    if (next_ == kN) regenerate();
    const int64_t here = std::min<int64_t>(count - done, kN - next_);
    for (; filled < indices.size() && indices[filled] < done + here; ++filled) {
      out[filled] = uniform(state_[static_cast<size_t>(next_ + indices[filled] - done)]);
    }
    next_ += static_cast<int32_t>(here);
    done += here;
  }
}

std::array<uint32_t, Mt19937::kWords + 1> Mt19937::save() const {
  std::array<uint32_t, kWords + 1> out;
  std::copy(state_.begin(), state_.end(), out.begin());
  out.back() = static_cast<uint32_t>(next_);
  return out;
}

bool Mt19937::restore(std::span<const uint32_t, kWords + 1> saved) {
  if (saved.back() > static_cast<uint32_t>(kWords)) return false;
  std::copy_n(saved.begin(), kWords, state_.begin());
  next_ = static_cast<int32_t>(saved.back());
  return true;
}

}  // namespace remora::lm

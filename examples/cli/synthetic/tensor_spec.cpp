// Compiled without fused multiply-add (see CMakeLists.txt): one machine must round like another.
#include "synthetic/tensor_spec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

namespace remora::cli {
namespace {

// Eight elements come from the eight bytes of one hash.
constexpr uint64_t kBlock = 8;

// The finaliser of splitmix64: 64 well-mixed bits for each counter.
uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// FNV-1a over the name, so that equal shapes do not get equal numbers.
uint64_t key_of(std::string_view name, uint64_t seed) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return mix(hash ^ mix(seed + 0x9E3779B97F4A7C15u));
}

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);  // nearest even
}

void store(float value, float& out) { out = value; }
void store(float value, uint16_t& out) { out = to_bf16(value); }

// The 256 values that the elements take: evenly spaced, variance exactly deviation^2.
template <typename T>
std::array<T, 256> levels_of(const Fill& fill) {
  const double step = fill.deviation * std::sqrt(12.0 / (256.0 * 256.0 - 1.0));
  std::array<T, 256> levels;
  for (int i = 0; i < 256; ++i)
    store(static_cast<float>(fill.mean + step * (i - 127.5)), levels[i]);
  return levels;
}

// The numbers of one tensor: element i is one byte of the hash of its block, through the levels.
template <typename T>
class Numbers {
 public:
  Numbers(const TensorSpec& spec, uint64_t seed)
      : levels_(levels_of<T>(spec.fill)),
        key_(key_of(spec.name, seed)),
        held_(spec.fill.held ? static_cast<uint64_t>(spec.shape.back()) : 1) {}

  // Elements [first, first + count).
  void write(uint64_t first, uint64_t count, T* out) const {
    uint64_t at = first;
    const uint64_t end = first + count;
    while (at < end) {
      if (held_ == 1 && at % kBlock == 0 && end - at >= kBlock) {
        const uint64_t bits = hash(at / kBlock);
        for (uint64_t i = 0; i < kBlock; ++i) *out++ = level(bits, i);
        at += kBlock;
      } else {
        const uint64_t number = at++ / held_;
        *out++ = level(hash(number / kBlock), number % kBlock);
      }
    }
  }

 private:
  uint64_t hash(uint64_t block) const { return mix(key_ + block * 0x9E3779B97F4A7C15u); }
  T level(uint64_t bits, uint64_t byte) const { return levels_[(bits >> (8 * byte)) & 0xFF]; }

  std::array<T, 256> levels_;
  uint64_t key_;
  uint64_t held_;  // neighbours that share one number
};

template <typename T>
void apply_patches(const TensorSpec& spec, T* values) {
  const int64_t columns = spec.shape.back();
  for (const Patch& patch : spec.patches) {
    for (int64_t row = patch.row_begin; row < patch.row_end; ++row) {
      for (int64_t column = patch.column_begin; column < patch.column_end; ++column) {
        store(patch.value, values[row * columns + column]);
      }
    }
  }
}

template <typename T>
void generate_as(const TensorSpec& spec, uint64_t seed, uint64_t offset, std::span<std::byte> out) {
  uint64_t first = offset / sizeof(T);
  uint64_t last = (offset + out.size() + sizeof(T) - 1) / sizeof(T);
  const bool aligned = offset % sizeof(T) == 0 && out.size() % sizeof(T) == 0 &&
                       reinterpret_cast<uintptr_t>(out.data()) % alignof(T) == 0;
  if (aligned && spec.patches.empty()) {
    Numbers<T>(spec, seed).write(first, last - first, reinterpret_cast<T*>(out.data()));
    return;
  }
  if (!spec.patches.empty()) {
    first = 0;
    last = spec.elements();
  }
  std::vector<T> values(last - first);
  Numbers<T>(spec, seed).write(first, last - first, values.data());
  apply_patches(spec, values.data());
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  std::memcpy(out.data(), bytes + (offset - first * sizeof(T)), out.size());
}

}  // namespace

void generate(const TensorSpec& spec, uint64_t seed, uint64_t offset, std::span<std::byte> out) {
  if (out.empty()) return;
  if (spec.dtype == Dtype::kBf16) {
    generate_as<uint16_t>(spec, seed, offset, out);
  } else {
    generate_as<float>(spec, seed, offset, out);
  }
}

}  // namespace remora::cli

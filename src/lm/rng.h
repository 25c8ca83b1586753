// The random stream of one session: MT19937, read as blocks of uniform numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace remora::lm {

// Where uniform numbers come from. Not thread-safe.
class UniformSource {
 public:
  virtual ~UniformSource() = default;

  // Takes the next `count` words as uniform numbers in (0, 1), of which only those at `indices`
  // (ascending, 0 .. count - 1) are wanted, into `out` (as many).
  virtual void draw(int64_t count, std::span<const int32_t> indices, std::span<float> out) = 0;
  // The same without looking.
  void skip(int64_t count) { draw(count, {}, {}); }
};

// For seeds below 2^32 the words are those of the classic single-word initialisation; larger seeds
// start from both halves, so that they give other streams. The host's generators are not used.
class Mt19937 final : public UniformSource {
 public:
  static constexpr int32_t kWords = 624;

  explicit Mt19937(uint64_t seed);

  // A word w gives (w mod 2^24) / 2^24, but never 0: a logarithm of it stays finite. Words that are
  // not looked at cost a fraction of a nanosecond.
  void draw(int64_t count, std::span<const int32_t> indices, std::span<float> out) override;

  // For saving a session: the words, then the position of the next one (0 .. kWords).
  std::array<uint32_t, kWords + 1> save() const;
  // False, with nothing changed, when the position is out of range.
  bool restore(std::span<const uint32_t, kWords + 1> saved);

 private:
  void regenerate();

  std::array<uint32_t, kWords> state_;
  int32_t next_ = kWords;
};

}  // namespace remora::lm

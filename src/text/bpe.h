// Byte-level byte-pair encoding of one pre-token.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace remora::text {

// What two neighbouring tokens become, and how early.
struct Merge {
  static constexpr int32_t kNone = INT32_MAX;
  int32_t rank = kNone;  // kNone: they do not merge
  int32_t id = 0;
};

class MergeRules {
 public:
  virtual ~MergeRules() = default;
  // `joined` = the bytes of both. Safe from several threads.
  virtual Merge find(int32_t left, int32_t right, std::string_view joined) const = 0;
};

// Merge rules as pairs of ids with ranks (tokenizer.json). Open addressing: one cache line a look.
class PairMerges : public MergeRules {
 public:
  // Room for `count` pairs.
  explicit PairMerges(size_t count);
  // A pair that is there already takes the new rank. At most `count` pairs.
  void add(int32_t left, int32_t right, Merge merge);
  Merge find(int32_t left, int32_t right, std::string_view joined) const override;

 private:
  struct Slot {
    uint64_t key;
    Merge merge;
  };
  size_t slot_of(uint64_t key) const;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

// Single bytes to token ids.
using ByteIds = std::array<int32_t, 256>;

// Merges the lowest rank first, the leftmost on ties, until no neighbours merge. O(n log n) in the
// bytes of a word; keeps its buffers from word to word. Not thread-safe: one for each pass.
class BpeEncoder {
 public:
  BpeEncoder(const MergeRules& rules, const ByteIds& bytes) : rules_(rules), bytes_(bytes) {}

  // Appends the ids of `word` (under 2^31 bytes) to `out`.
  void encode(std::string_view word, std::vector<int32_t>& out);

 private:
  struct Symbol {
    int32_t begin, end;  // bytes of the word
    int32_t previous, next;
    int32_t id;
    Merge merge;  // with the next symbol
  };
  struct Candidate {
    int32_t rank, position;
    // The heap's top is the largest: turned round so that it is the lowest rank, then leftmost.
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };
  void start(std::string_view word);
  void offer(std::string_view word, int32_t position);
  void merge_with_next(std::string_view word, int32_t position);

  const MergeRules& rules_;
  const ByteIds& bytes_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace remora::text

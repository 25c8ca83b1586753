#include "text/bpe.h"

#include <algorithm>
#include <bit>

namespace remora::text {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};
constexpr int32_t kNoSymbol = -1;

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

PairMerges::PairMerges(size_t count) : slots_(std::bit_ceil(2 * count + 1), Slot{kFree, Merge{}}) {}

size_t PairMerges::slot_of(uint64_t key) const {
  // Multiplying by 2^64 / golden ratio spreads neighbouring ids; the top bits are the best mixed.
  const uint64_t hash = key * 0x9E3779B97F4A7C15u;
  size_t slot = (hash ^ hash >> 32) & (slots_.size() - 1);
  while (slots_[slot].key != kFree && slots_[slot].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void PairMerges::add(int32_t left, int32_t right, Merge merge) {
  const uint64_t key = pair_key(left, right);
  slots_[slot_of(key)] = Slot{key, merge};
}

Merge PairMerges::find(int32_t left, int32_t right, std::string_view) const {
  return slots_[slot_of(pair_key(left, right))].merge;
}

void BpeEncoder::start(std::string_view word) {
  const auto count = static_cast<int32_t>(word.size());
  symbols_.resize(word.size());
  heap_.clear();
  for (int32_t i = 0; i < count; ++i) {
    const int32_t next = i + 1 < count ? i + 1 : kNoSymbol;
    symbols_[i] = {i, i + 1, i - 1, next, bytes_[static_cast<unsigned char>(word[i])], {}};
  }
  for (int32_t i = 0; i < count; ++i) offer(word, i);
}

void BpeEncoder::offer(std::string_view word, int32_t position) {
  Symbol& symbol = symbols_[position];
  symbol.merge = {};
  if (symbol.next == kNoSymbol) return;
  const Symbol& next = symbols_[symbol.next];
  symbol.merge =
      rules_.find(symbol.id, next.id, word.substr(symbol.begin, next.end - symbol.begin));
  if (symbol.merge.rank == Merge::kNone) return;
  heap_.push_back({symbol.merge.rank, position});
  std::push_heap(heap_.begin(), heap_.end());
}

void BpeEncoder::merge_with_next(std::string_view word, int32_t position) {
  Symbol& symbol = symbols_[position];
  Symbol& swallowed = symbols_[symbol.next];
  symbol.id = symbol.merge.id;
  symbol.end = swallowed.end;
  symbol.next = swallowed.next;
  swallowed.merge = {};  // its candidates in the heap are stale from here on
  if (symbol.next != kNoSymbol) symbols_[symbol.next].previous = position;
  offer(word, position);
  if (symbol.previous != kNoSymbol) offer(word, symbol.previous);
}

void BpeEncoder::encode(std::string_view word, std::vector<int32_t>& out) {
  if (word.empty()) return;
  if (word.size() == 1) {
    out.push_back(bytes_[static_cast<unsigned char>(word[0])]);
    return;
  }
  start(word);
  while (!heap_.empty()) {
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    // Equal ranks mean equal pairs, so a candidate is current exactly when its rank still is.
    if (symbols_[best.position].merge.rank == best.rank) merge_with_next(word, best.position);
  }
  for (int32_t i = 0; i != kNoSymbol; i = symbols_[i].next) out.push_back(symbols_[i].id);
}

}  // namespace remora::text

#include "text/bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace remora::text {
namespace {

// A small alphabet with random merges, kept twice: once as the code under test has them, once
// plain.
struct RandomRules {
  explicit RandomRules(uint32_t seed) : pairs(kMerges) {
    bytes.fill(0);
    for (int32_t i = 0; i < kLetters; ++i) bytes[static_cast<size_t>('a' + i)] = i;
    std::mt19937 random(seed);
    for (int32_t rank = 0; rank < kMerges; ++rank) {
      const auto left = static_cast<int32_t>(random() % (kLetters + rank));
      const auto right = static_cast<int32_t>(random() % (kLetters + rank));
      if (!plain.emplace(std::pair(left, right), Merge{rank, kLetters + rank}).second) continue;
      pairs.add(left, right, {rank, kLetters + rank});
    }
  }
  static constexpr int32_t kLetters = 3;
  static constexpr int32_t kMerges = 40;
  PairMerges pairs;
  ByteIds bytes;
  std::map<std::pair<int32_t, int32_t>, Merge> plain;
};

// The definition, word for word: find the lowest rank, leftmost first, merge, start again.
std::vector<int32_t> by_definition(const RandomRules& rules, const std::string& word) {
  std::vector<int32_t> ids;
  for (const char c : word) ids.push_back(rules.bytes[static_cast<unsigned char>(c)]);
  while (true) {
    Merge best;
    size_t where = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = rules.plain.find({ids[i], ids[i + 1]});
      if (found != rules.plain.end() && found->second.rank < best.rank) {
        best = found->second;
        where = i;
      }
    }
    if (best.rank == Merge::kNone) return ids;
    ids[where] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

TEST(Bpe, EqualsTheDefinitionOnRandomRulesAndWords) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const RandomRules rules(seed);
    BpeEncoder encoder(rules.pairs, rules.bytes);
    std::mt19937 random(seed + 1000);
    for (int word = 0; word < 40; ++word) {
      std::string text(random() % 30, 'a');
      for (char& c : text) c = static_cast<char>('a' + random() % RandomRules::kLetters);
      std::vector<int32_t> ids;
      encoder.encode(text, ids);
      ASSERT_EQ(ids, by_definition(rules, text)) << "seed " << seed << ", word " << text;
    }
  }
}

TEST(Bpe, LeftmostOfEqualRanksFirst) {
  PairMerges pairs(1);
  pairs.add(7, 7, {0, 8});
  ByteIds bytes;
  bytes.fill(7);
  BpeEncoder encoder(pairs, bytes);
  std::vector<int32_t> ids;
  encoder.encode("aaaaa", ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{8, 8, 7}));
}

TEST(Bpe, AFreeSlotIsNeverAPair) {
  PairMerges pairs(0);
  EXPECT_EQ(pairs.find(0, 0, "").rank, Merge::kNone);
  EXPECT_EQ(pairs.find(-1, -1, "").rank, Merge::kNone);
}

}  // namespace
}  // namespace remora::text

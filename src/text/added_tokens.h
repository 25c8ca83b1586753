// Tokens that are found in the text as a whole, before any other rule: <|im_end|>, <think>, ...
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remora::text {

// A trie: one search costs at most the longest token's length per place of the text, whatever the
// number of tokens.
class AddedTokens {
 public:
  struct Match {
    size_t begin = 0, end = 0;  // bytes
    int32_t id = 0;
  };

  // Longer ones are not to be added: a text of their beginnings would take the length at each
  // place. Released files stay below 40.
  static constexpr size_t kMaxBytes = 256;

  AddedTokens();

  // False when `content` is empty or is there already with another id.
  bool add(std::string_view content, int32_t id);

  // The leftmost occurrence that begins at or after `from`, the longest one there.
  std::optional<Match> find(std::string_view text, size_t from) const;

  std::optional<int32_t> id_of(std::string_view content) const;

 private:
  static constexpr int32_t kNone = -1;
  struct Node {
    char byte;
    int32_t first_child = kNone;
    int32_t next_sibling = kNone;
    int32_t id = kNone;
  };
  int32_t child(int32_t node, char byte) const;

  std::vector<Node> nodes_;  // nodes_[0] is the root
  std::array<bool, 256> starts_{};
};

}  // namespace remora::text

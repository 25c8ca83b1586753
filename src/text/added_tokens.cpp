#include "text/added_tokens.h"

namespace remora::text {

AddedTokens::AddedTokens() : nodes_{Node{}} {}

int32_t AddedTokens::child(int32_t node, char byte) const {
  int32_t found = nodes_[node].first_child;
  while (found != kNone && nodes_[found].byte != byte) found = nodes_[found].next_sibling;
  return found;
}

bool AddedTokens::add(std::string_view content, int32_t id) {
  if (content.empty()) return false;
  int32_t node = 0;
  for (const char byte : content) {
    int32_t next = child(node, byte);
    if (next == kNone) {
      next = static_cast<int32_t>(nodes_.size());
      nodes_.push_back(Node{byte, kNone, nodes_[node].first_child, kNone});
      nodes_[node].first_child = next;
    }
    node = next;
  }
  if (nodes_[node].id != kNone && nodes_[node].id != id) return false;
  nodes_[node].id = id;
  starts_[static_cast<unsigned char>(content.front())] = true;
  return true;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Match> longest;
    int32_t node = child(0, text[begin]);
    for (size_t end = begin + 1; node != kNone; ++end) {
      if (nodes_[node].id != kNone) longest = Match{begin, end, nodes_[node].id};
      if (end == text.size()) break;
      node = child(node, text[end]);
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

std::optional<int32_t> AddedTokens::id_of(std::string_view content) const {
  int32_t node = 0;
  for (const char byte : content) {
    node = child(node, byte);
    if (node == kNone) return std::nullopt;
  }
  if (nodes_[node].id == kNone) return std::nullopt;
  return nodes_[node].id;
}

}  // namespace remora::text

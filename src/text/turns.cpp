#include "text/turns.h"

#include <utility>

#include "text/char_class.h"

namespace remora::text {

std::vector<Turn> split_turns(std::string_view text, LeadingText leading) {
  std::vector<Turn> turns;
  std::optional<Span> tag = find_speaker_tag(text);
  if (!tag) return turns;
  const auto add = [&](size_t begin, size_t end, size_t tag_length) {
    turns.push_back({{begin, end - begin}, tag_length, trim(text.substr(begin, end - begin))});
  };
  size_t begin = tag->offset;
  if (leading == LeadingText::kOwnTurn) {
    if (!trim(text.substr(0, begin)).empty()) {
      add(0, begin, 0);
    } else {
      begin = 0;
    }
  }
  while (tag) {
    const auto next = find_speaker_tag(text, tag->end());
    add(begin, next ? next->offset : text.size(), tag->length);
    if (next) begin = next->offset;
    tag = next;
  }
  return turns;
}

std::vector<size_t> group_turns(const std::vector<Turn>& turns, size_t max_bytes) {
  std::vector<size_t> sizes;
  size_t bytes = 0;
  for (const Turn& turn : turns) {
    if (sizes.empty() || sizes.back() == kMaxTurnsPerBatch ||
        bytes + turn.text.size() > max_bytes) {
      sizes.push_back(0);
      bytes = 0;
    }
    ++sizes.back();
    bytes += turn.text.size();
  }
  return sizes;
}

std::vector<std::string> batch_texts(std::string_view text, size_t max_bytes, LeadingText leading) {
  const std::vector<Turn> turns = split_turns(text, leading);
  if (turns.empty()) return {std::string(text)};
  std::vector<std::string> batches;
  size_t next = 0;
  for (const size_t size : group_turns(turns, max_bytes)) {
    std::string batch(turns[next++].text);
    for (size_t i = 1; i < size; ++i) batch.append("\n").append(turns[next++].text);
    batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace remora::text

#include "text/tokenizer.h"

#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/byte_source.h"
#include "text/json_tokenizer.h"
#include "text/tiktoken_tokenizer.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

// Bytes of the first `characters` code points from `from` on; all that is left for 0 or fewer.
size_t piece_length(std::string_view text, size_t from, size_t characters) {
  const size_t left = text.size() - from;
  if (characters == 0 || left <= characters) return left;
  size_t at = from;
  for (size_t i = 0; i < characters && at < text.size(); ++i) at += code_point_at(text, at).length;
  return at - from;
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary, size_t max_characters)
    : vocabulary_(std::move(vocabulary)), max_characters_(max_characters) {}

std::vector<int32_t> Tokenizer::encode(std::string_view utf8, ControlTokens mode) const {
  if (utf8.size() > kMaxBytes) {
    throw Error(Status::kInvalidArgument, concat("text: ", utf8.size(), " bytes, at most ",
                                                 kMaxBytes, " can be encoded at once"));
  }
  require_utf8(utf8, Nul::kAllowed);
  const AddedTokens& added =
      mode == ControlTokens::kAllowed ? vocabulary_.added() : vocabulary_.speaker_tags();
  std::vector<int32_t> ids;
  ids.reserve(utf8.size() / 3);
  Pass pass{BpeEncoder(merge_rules(), vocabulary_.byte_ids()), {}};
  for (size_t at = 0; at < utf8.size();) {
    const size_t length = piece_length(utf8, at, max_characters_);
    encode_piece(utf8.substr(at, length), added, pass, ids);
    at += length;
  }
  return ids;
}

void Tokenizer::encode_piece(std::string_view text, const AddedTokens& added, Pass& pass,
                             std::vector<int32_t>& out) const {
  size_t done = 0;
  while (const auto match = added.find(text, done)) {
    if (match->begin > done) encode_text(text.substr(done, match->begin - done), pass, out);
    out.push_back(match->id);
    done = match->end;
  }
  if (done < text.size()) encode_text(text.substr(done), pass, out);
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string bytes;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!vocabulary_.contains(ids[i])) {
      throw Error(Status::kInvalidArgument,
                  concat("ids: entry ", i, " is ", ids[i], ", which ", file(), " does not have"));
    }
    bytes.append(vocabulary_.bytes_of(ids[i]));
  }
  return replace_invalid_utf8(std::move(bytes));
}

std::vector<Span> Tokenizer::find_control_tokens(std::string_view utf8) const {
  require_utf8(utf8, Nul::kAllowed);
  std::vector<Span> found;
  size_t done = 0;
  while (const auto match = vocabulary_.added().find(utf8, done)) {
    if (speaker_tag_length(utf8, match->begin) == 0) {
      found.push_back({match->begin, match->end - match->begin});
    }
    done = match->end;
  }
  return found;
}

std::unique_ptr<const Tokenizer> load_tokenizer(const io::FileSet& files) {
  if (files.contains("tokenizer.json")) return load_json_tokenizer(files);
  if (files.contains("tokenizer.tiktoken")) return load_tiktoken_tokenizer(files);
  throw Error(Status::kIo,
              concat(files.describe(),
                     ": has neither tokenizer.json nor tokenizer.tiktoken; is it a checkpoint?"));
}

}  // namespace remora::text

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "synthetic/vocabulary.h"

namespace remora::cli {
namespace {

using Json = nlohmann::ordered_json;

// Where text is cut before bytes are merged: the pattern of the Qwen family, which S2-Pro uses.
constexpr const char* kSplitPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

void append_utf8(std::string& out, uint32_t code_point) {
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else {  // the alphabet ends below U+0800
    out.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    out.push_back(static_cast<char>(0x80 | (code_point & 0x3F)));
  }
}

// Bytes as tokenizer.json writes them: printable ones as themselves, the rest from U+0100 on.
std::string in_byte_alphabet(const std::string& bytes) {
  static const std::array<uint32_t, 256> alphabet = [] {
    std::array<uint32_t, 256> table{};
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool shown = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      table[byte] = shown ? byte : next++;
    }
    return table;
  }();
  std::string out;
  for (const char c : bytes) append_utf8(out, alphabet[static_cast<unsigned char>(c)]);
  return out;
}

Json byte_level(bool with_prefix_and_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", with_prefix_and_regex},
          {"trim_offsets", with_prefix_and_regex},
          {"use_regex", with_prefix_and_regex}};
}

Json added_tokens(const Vocabulary& vocabulary) {
  Json added = Json::array();
  for (const ControlToken& token : vocabulary.control) {
    added.push_back({{"id", token.id},
                     {"content", token.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  return added;
}

std::string base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > bytes.size();
      out.push_back(padding ? '=' : kDigits[(group >> (18 - 6 * j)) & 0x3F]);
    }
  }
  return out;
}

// Begins with 0xFF, which UTF-8 never uses: such a token is never made from text.
std::string unused_piece(int64_t number) {
  std::string piece = "\xFF";
  for (int shift = 16; shift >= 0; shift -= 8) piece.push_back(static_cast<char>(number >> shift));
  return piece;
}

}  // namespace

std::string tokenizer_json(const Vocabulary& vocabulary) {
  Json model = {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"ignore_merges", false}};
  Json& vocab = model["vocab"] = Json::object();
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    vocab[in_byte_alphabet(vocabulary.pieces[id])] = id;
  }
  Json& merges = model["merges"] = Json::array();
  for (const auto& [left, right] : vocabulary.merges) {
    merges.push_back({in_byte_alphabet(left), in_byte_alphabet(right)});
  }
  const Json split = {{"type", "Split"},
                      {"pattern", {{"Regex", kSplitPattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  const Json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added_tokens(vocabulary)},
      {"normalizer", {{"type", "NFC"}}},
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, byte_level(false)}}}},
      {"post_processor", byte_level(false)},
      {"decoder", byte_level(true)},
      {"model", std::move(model)}};
  return file.dump(1) + "\n";
}

std::string tiktoken_file(const Vocabulary& vocabulary) {
  std::string out;
  for (int64_t rank = 0; rank < vocabulary.first_control_id; ++rank) {
    const bool used = rank < static_cast<int64_t>(vocabulary.pieces.size());
    out += base64(used ? vocabulary.pieces[rank] : unused_piece(rank));
    out += ' ';
    out += std::to_string(rank);
    out += '\n';
  }
  return out;
}

std::string special_tokens_json(const Vocabulary& vocabulary) {
  Json file = Json::object();
  for (const ControlToken& token : vocabulary.control) file[token.text] = token.id;
  return file.dump(2) + "\n";
}

}  // namespace remora::cli

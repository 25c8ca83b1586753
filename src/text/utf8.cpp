#include "text/utf8.h"

#include <cstdint>
#include <cstring>

#include "base/concat.h"
#include "base/error.h"

namespace remora::text {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes from `offset` on that are ASCII, eight at a time.
size_t ascii_run(std::string_view bytes, size_t offset) {
  const size_t start = offset;
  while (bytes.size() - offset >= 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes.data() + offset, 8);
    if ((eight & 0x8080808080808080u) != 0) break;
    offset += 8;
  }
  while (offset < bytes.size() && static_cast<unsigned char>(bytes[offset]) < 0x80) ++offset;
  return offset - start;
}

// One sequence: its valid length, or the reason it is none and the bytes that belong to the fault.
struct Sequence {
  size_t length = 0;
  std::string_view fault;
};

struct Lead {
  size_t length;
  unsigned char low, high;  // allowed range of the second byte
};

// Second bytes outside [low, high] would be overlong, a surrogate or above U+10FFFF.
Lead describe_lead(unsigned char lead) {
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

std::string_view lead_fault(unsigned char lead) {
  if (lead < 0xC0) return "a continuation byte without its first byte";
  if (lead < 0xC2) return "overlong form";
  return "a byte that UTF-8 never uses";
}

std::string_view second_byte_fault(unsigned char lead) {
  if (lead == 0xED) return "a surrogate (half of a UTF-16 pair)";
  if (lead == 0xF4) return "above U+10FFFF";
  return "overlong form";
}

Sequence read_sequence(std::string_view bytes, size_t offset) {
  const auto lead_byte = static_cast<unsigned char>(bytes[offset]);
  if (lead_byte < 0x80) return {1, {}};
  const Lead lead = describe_lead(lead_byte);
  if (lead.length == 0) return {1, lead_fault(lead_byte)};
  for (size_t i = 1; i < lead.length; ++i) {
    if (offset + i == bytes.size()) return {i, "a sequence that is cut off at the end"};
    const auto next = static_cast<unsigned char>(bytes[offset + i]);
    if (next < 0x80 || next > 0xBF) return {i, "a sequence that is cut off"};
    if (i == 1 && (next < lead.low || next > lead.high)) return {i, second_byte_fault(lead_byte)};
  }
  return {lead.length, {}};
}

}  // namespace

std::optional<Utf8Fault> find_utf8_fault(std::string_view bytes) {
  size_t offset = ascii_run(bytes, 0);
  while (offset < bytes.size()) {
    const Sequence sequence = read_sequence(bytes, offset);
    if (!sequence.fault.empty()) return Utf8Fault{offset, sequence.fault};
    offset += sequence.length;
    if (offset < bytes.size() && static_cast<unsigned char>(bytes[offset]) < 0x80) {
      offset += ascii_run(bytes, offset);
    }
  }
  return std::nullopt;
}

void require_utf8(std::string_view bytes, Nul nul, std::string_view what) {
  if (const auto fault = find_utf8_fault(bytes)) {
    throw Error(Status::kInvalidArgument,
                concat(what, ": byte ", fault->offset, " is not valid UTF-8 (", fault->reason,
                       "); is the text in another encoding?"));
  }
  const size_t zero = nul == Nul::kRefused ? bytes.find('\0') : std::string_view::npos;
  if (zero != std::string_view::npos) {
    throw Error(Status::kInvalidArgument,
                concat(what, ": byte ", zero,
                       " is NUL (U+0000); is this UTF-16, or is the length too long?"));
  }
}

std::string_view drop_bom(std::string_view bytes) {
  if (bytes.starts_with(kBom)) bytes.remove_prefix(kBom.size());
  return bytes;
}

CodePoint code_point_before(std::string_view text, size_t end) {
  size_t start = end - 1;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
  return code_point_at(text, start);
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::string replace_invalid_utf8(std::string bytes) {
  if (!find_utf8_fault(bytes)) return bytes;
  std::string out;
  for (size_t offset = 0; offset < bytes.size();) {
    const Sequence sequence = read_sequence(bytes, offset);
    out.append(sequence.fault.empty() ? std::string_view(bytes).substr(offset, sequence.length)
                                      : kReplacement);
    offset += sequence.length;
  }
  return out;
}

}  // namespace remora::text

#include "engine/voice_file.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/error.h"

namespace remora::engine {
namespace {

constexpr std::string_view kMagic = "RMRVOICE";
constexpr uint64_t kUnknownCodec = 0;  // no codec's fingerprint
constexpr uint32_t kVersion = 2;

[[noreturn]] void refuse(std::string_view reason) {
  throw Error(Status::kFormat, concat("voice file: ", reason));
}

void check_checksum(std::span<const std::byte> bytes) {
  constexpr size_t kSize = sizeof(uint64_t);
  if (bytes.size() < kMagic.size() + kSize) refuse("is too short to be a voice");
  const auto body = bytes.first(bytes.size() - kSize);
  ByteReader tail(bytes.last(kSize), "voice file");
  if (tail.value<uint64_t>() != checksum(body)) {
    refuse("is damaged or cut (the checksum differs); make it again or copy it again");
  }
}

}  // namespace

std::vector<std::byte> save_voice(const Voice& voice) {
  const text::Reference& reference = voice.reference();
  ByteWriter out;
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.value<uint32_t>(kVersion);
  out.value<uint32_t>(static_cast<uint32_t>(voice.tables().codebooks));
  out.value<uint32_t>(static_cast<uint32_t>(voice.tables().entries));
  out.value<uint32_t>(sizeof(uint16_t));
  out.value<uint64_t>(voice.tables().codec.value_or(kUnknownCodec));
  out.value<uint64_t>(static_cast<uint64_t>(reference.frames));
  out.text(reference.text);
  for (const int32_t code : reference.codes) out.value<uint16_t>(static_cast<uint16_t>(code));
  out.value<uint64_t>(checksum(out.written()));
  return out.take();
}

std::shared_ptr<const Voice> load_voice(const Model& model, std::span<const std::byte> bytes) {
  ByteReader in(bytes, "voice file");
  const auto magic = in.bytes(std::min(bytes.size(), kMagic.size()));
  if (!std::ranges::equal(magic, std::as_bytes(std::span(kMagic)))) {
    refuse("is no voice (give one that was saved with remora)");
  }
  if (const auto version = in.value<uint32_t>(); version != kVersion) {
    refuse(concat("has version ", version, ", this library reads ", kVersion,
                  "; make the voice again"));
  }
  check_checksum(bytes);
  CodeTables tables;
  tables.codebooks = in.value<uint32_t>();
  tables.entries = in.value<uint32_t>();
  if (in.value<uint32_t>() != sizeof(uint16_t)) refuse("has codes of an unknown width");
  if (const auto codec = in.value<uint64_t>(); codec != kUnknownCodec) tables.codec = codec;
  tables.check_fit(model);
  const auto frames = in.value<uint64_t>();
  const std::string transcript = in.text();
  const auto codebooks = static_cast<size_t>(tables.codebooks);
  const uint64_t available = in.remaining() / sizeof(uint16_t) / codebooks;
  if (frames > available) refuse(concat("names ", frames, " frames and holds ", available));
  std::vector<int32_t> codes(static_cast<size_t>(frames) * codebooks);
  for (int32_t& code : codes) code = in.value<uint16_t>();
  if (in.remaining() != sizeof(uint64_t)) {
    refuse(concat("holds ", in.remaining() - sizeof(uint64_t), " bytes behind its codes"));
  }
  return Voice::from_codes(tables, codes, static_cast<int64_t>(frames), transcript);
}

}  // namespace remora::engine

// The safetensors container: 8 bytes header length (little-endian), a JSON header, raw tensors.
#include <c10/core/ScalarType.h>

#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/state_dict.h"

namespace remora::io {
namespace {

using nlohmann::json;

// The reference implementation's own limit.
constexpr uint64_t kMaxHeader = 100'000'000;

std::optional<at::ScalarType> parse_dtype(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, at::ScalarType>, 9> kTypes{{
      {"F64", at::kDouble},
      {"F32", at::kFloat},
      {"F16", at::kHalf},
      {"BF16", at::kBFloat16},
      {"I64", at::kLong},
      {"I32", at::kInt},
      {"I8", at::kChar},
      {"U8", at::kByte},
      {"BOOL", at::kBool},
  }};
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

[[noreturn]] void fail(const ByteSource& source, std::string_view reason) {
  throw Error(Status::kFormat, concat(source.name(), ": ", reason));
}

[[noreturn]] void fail_tensor(const ByteSource& source, std::string_view tensor,
                              std::string_view reason) {
  throw Error(Status::kFormat, concat(source.name(), ": tensor ", tensor, " ", reason));
}

// What a file that is no safetensors file most likely is.
std::string_view hint(const ByteSource& source) {
  std::array<char, 40> head{};
  const size_t n = static_cast<size_t>(std::min<uint64_t>(source.size(), head.size()));
  source.read_at(0, std::as_writable_bytes(std::span(head.data(), n)));
  const std::string_view text(head.data(), n);
  if (text.starts_with("version https://git-lfs")) {
    return " (this is a Git LFS pointer: fetch the real file with `git lfs pull`)";
  }
  if (text.starts_with("PK")) return " (this looks like a PyTorch .pth archive)";
  if (text.starts_with("\x80")) return " (this looks like a Python pickle)";
  return "";
}

json read_header(const ByteSource& source, uint64_t& data_start) {
  if (source.size() < 8) {
    fail(source, concat("only ", source.size(), " bytes; incomplete download?"));
  }
  std::array<std::byte, 8> raw;
  source.read_at(0, raw);
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<uint8_t>(raw[i]);
  if (length < 2 || length > kMaxHeader || length > source.size() - 8) {
    fail(source, concat("not a safetensors file: header of ", length, " bytes in a file of ",
                        source.size(), hint(source)));
  }
  std::string text(static_cast<size_t>(length), '\0');
  source.read_at(8, std::as_writable_bytes(std::span(text)));
  json header = json::parse(text, nullptr, false);
  if (!header.is_object()) {
    fail(source, concat("the header is not a JSON object", hint(source)));
  }
  data_start = 8 + length;
  return header;
}

std::vector<int64_t> read_shape(const ByteSource& source, const std::string& name,
                                const json& entry) {
  const auto field = entry.find("shape");
  if (field == entry.end() || !field->is_array() || field->size() > 16) {
    fail_tensor(source, name, "has no readable shape");
  }
  std::vector<int64_t> shape;
  for (const json& extent : *field) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail_tensor(source, name, "has a negative or unreadable extent in its shape");
    }
    shape.push_back(extent.get<int64_t>());
  }
  return shape;
}

uint64_t checked_bytes(const ByteSource& source, const std::string& name,
                       const std::vector<int64_t>& shape, at::ScalarType dtype) {
  uint64_t bytes = c10::elementSize(dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) {
      fail_tensor(source, name, concat("has an impossible shape ", shape_text(shape)));
    }
  }
  return bytes;
}

StoredTensor read_entry(std::shared_ptr<const ByteSource> source, const std::string& name,
                        const json& entry, uint64_t data_start) {
  if (!entry.is_object()) fail_tensor(*source, name, "has no description object");
  const auto dtype_field = entry.find("dtype");
  if (dtype_field == entry.end() || !dtype_field->is_string()) {
    fail_tensor(*source, name, "has no dtype");
  }
  const auto dtype_name = dtype_field->get<std::string>();
  const auto dtype = parse_dtype(dtype_name);
  if (!dtype) fail_tensor(*source, name, concat("has dtype ", dtype_name, ", which is not read"));

  StoredTensor tensor;
  tensor.dtype = *dtype;
  tensor.shape = read_shape(*source, name, entry);
  const uint64_t bytes = checked_bytes(*source, name, tensor.shape, *dtype);

  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    fail_tensor(*source, name, "has no readable data_offsets");
  }
  const auto begin = (*offsets)[0].get<uint64_t>();
  const auto end = (*offsets)[1].get<uint64_t>();
  const uint64_t available = source->size() - data_start;
  if (begin > end || end - begin != bytes) {
    fail_tensor(*source, name,
                concat("has offsets [", begin, ",", end, "], but its shape ",
                       shape_text(tensor.shape), " needs ", bytes, " bytes"));
  }
  if (end > available) {
    fail_tensor(*source, name,
                concat("ends at data byte ", end, ", but the file holds only ", available,
                       "; incomplete download?"));
  }
  tensor.offset = data_start + begin;
  tensor.source = std::move(source);
  return tensor;
}

}  // namespace

void read_safetensors(std::shared_ptr<const ByteSource> source, StateDict& out) {
  uint64_t data_start = 0;
  const json header = read_header(*source, data_start);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    out.insert(name, read_entry(source, name, entry, data_start));
  }
}

}  // namespace remora::io

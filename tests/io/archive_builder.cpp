#include "io/archive_builder.h"

namespace remora::test {
namespace {

constexpr uint64_t kIn64 = 0xFFFFFFFF;

std::string local_header(const ZipPart& part) {
  // Sizes and checksum are left to the directory (flag bit 3), as PyTorch does.
  return std::string("PK\x03\x04") + little(20, 2) + little(part.flags | 8, 2) +
         little(part.method, 2) + little(0, 4 + 12) + little(part.name.size(), 2) + little(3, 2) +
         part.name + "xxx";
}

std::string directory_entry(const ZipPart& part, uint64_t offset, bool zip64) {
  const uint64_t size = part.claimed_size != UINT64_MAX ? part.claimed_size : part.data.size();
  if (part.claimed_offset != UINT64_MAX) offset = part.claimed_offset;
  std::string extra;
  if (zip64)
    extra = little(1, 2) + little(24, 2) + little(size, 8) + little(size, 8) + little(offset, 8);
  return std::string("PK\x01\x02") + little(20, 2) + little(20, 2) + little(part.flags | 8, 2) +
         little(part.method, 2) + little(0, 8) + little(zip64 ? kIn64 : size, 4) +
         little(zip64 ? kIn64 : size, 4) + little(part.name.size(), 2) + little(extra.size(), 2) +
         little(0, 2 + 2 + 2 + 4) + little(zip64 ? kIn64 : offset, 4) + part.name + extra;
}

}  // namespace

std::string little(uint64_t value, size_t width) {
  std::string out;
  for (size_t i = 0; i < width; ++i) {
    out.push_back(i < 8 ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0');
  }
  return out;
}

std::string zip(const std::vector<ZipPart>& parts, bool zip64) {
  std::string out;
  std::string directory;
  for (const ZipPart& part : parts) {
    directory += directory_entry(part, out.size(), zip64);
    out += local_header(part) + part.data;
  }
  const uint64_t directory_at = out.size();
  out += directory;
  if (zip64) {
    const uint64_t record_at = out.size();
    out += std::string("PK\x06\x06") + little(44, 8) + little(45, 2) + little(45, 2) +
           little(0, 8) + little(parts.size(), 8) + little(parts.size(), 8) +
           little(directory.size(), 8) + little(directory_at, 8);
    out += std::string("PK\x06\x07") + little(0, 4) + little(record_at, 8) + little(1, 4);
  }
  return out + std::string("PK\x05\x06") + little(0, 4) + little(zip64 ? 0xFFFF : parts.size(), 2) +
         little(zip64 ? 0xFFFF : parts.size(), 2) + little(zip64 ? kIn64 : directory.size(), 4) +
         little(zip64 ? kIn64 : directory_at, 4) + little(0, 2);
}

namespace pickle {

std::string text(std::string_view utf8) {
  return std::string("X") + little(utf8.size(), 4) + std::string(utf8);
}

std::string integer(int64_t value) {
  if (value >= 0 && value < 256) return std::string("K") + little(static_cast<uint64_t>(value), 1);
  if (value == static_cast<int32_t>(value))
    return std::string("J") + little(static_cast<uint64_t>(value), 4);
  return std::string("\x8a\x08") + little(static_cast<uint64_t>(value), 8);
}

std::string global(std::string_view module, std::string_view name) {
  return std::string("c") + std::string(module) + "\n" + std::string(name) + "\n";
}

std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}

std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

std::string dict(const std::vector<std::string>& items) {
  std::string out = "}(";
  for (const std::string& item : items) out += item;
  return out + "u";
}

std::string reduce(const std::string& callee, const std::vector<std::string>& arguments) {
  return callee + tuple(arguments) + "R";
}

std::string storage(std::string_view type, std::string_view key, int64_t elements) {
  return tuple(
             {text("storage"), global("torch", type), text(key), text("cpu"), integer(elements)}) +
         "Q";
}

std::string tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& size,
                   const std::vector<int64_t>& stride) {
  const auto extents = [](const std::vector<int64_t>& values) {
    std::vector<std::string> items;
    for (const int64_t value : values) items.push_back(integer(value));
    return tuple(items);
  };
  return reduce(global("torch._utils", "_rebuild_tensor_v2"),
                {storage, integer(offset), extents(size), extents(stride), "\x89",
                 reduce(global("collections", "OrderedDict"), {})});
}

}  // namespace pickle

std::string pth(const std::string& top, const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts{{"m/data.pkl", pickle::kProto2 + top + pickle::kStop},
                             {"m/byteorder", "little"}};
  for (size_t i = 0; i < storages.size(); ++i) {
    parts.push_back({"m/data/" + std::to_string(i), storages[i]});
  }
  return zip(parts);
}

}  // namespace remora::test

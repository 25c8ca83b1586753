// Zip archives and pickles built byte by byte, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remora::test {

// `value` in `width` bytes, little-endian.
std::string little(uint64_t value, size_t width);

struct ZipPart {
  std::string name;
  std::string data;
  uint16_t method = 0;                   // 0 stored, 8 deflated
  uint16_t flags = 0;                    // bit 0: encrypted
  uint64_t claimed_size = UINT64_MAX;    // in the directory, when it is to lie
  uint64_t claimed_offset = UINT64_MAX;  // the same for the local header's place
};

// A zip file of these parts; `zip64` writes sizes, offsets and the end in zip64 records.
std::string zip(const std::vector<ZipPart>& parts, bool zip64 = false);

// Opcodes of pickle protocol 2, to be put together with +.
namespace pickle {
inline const std::string kProto2{"\x80\x02", 2};
inline const std::string kStop{"."};
std::string text(std::string_view utf8);
std::string integer(int64_t value);  // BININT1, BININT or LONG1
std::string global(std::string_view module, std::string_view name);
std::string tuple(const std::vector<std::string>& items);
std::string list(const std::vector<std::string>& items);
// {key: value, ...}: `items` holds keys and values in turn.
std::string dict(const std::vector<std::string>& items);
// A call with these arguments.
std::string reduce(const std::string& callee, const std::vector<std::string>& arguments);
std::string storage(std::string_view type, std::string_view key, int64_t elements);
std::string tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& size,
                   const std::vector<int64_t>& stride);
}  // namespace pickle

// A .pth file: `top` is the pickled value, `storages` the members data/0, data/1, ...
std::string pth(const std::string& top, const std::vector<std::string>& storages);

}  // namespace remora::test

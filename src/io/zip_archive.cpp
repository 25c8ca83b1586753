#include "io/zip_archive.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"

namespace remora::io {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kEntryMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr uint64_t kLocalSize = 30;
constexpr uint64_t kEntrySize = 46;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kLocator64Size = 20;
constexpr uint64_t kMaxComment = 65535;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // "the value is in the zip64 record"
// A checkpoint's directory takes about 100 bytes a tensor.
constexpr uint64_t kMaxDirectory = 64u << 20;

[[noreturn]] void fail(const ByteSource& source, std::string_view reason) {
  throw Error(Status::kFormat, concat(source.name(), ": ", reason));
}

// Little-endian fields of a record that has been read whole.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t get(size_t at, size_t width) const {
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<uint8_t>(bytes_[at + i]);
    return value;
  }
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(get(at, 2)); }
  uint32_t u32(size_t at) const { return static_cast<uint32_t>(get(at, 4)); }
  uint64_t u64(size_t at) const { return get(at, 8); }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
};

void check_inside(const ByteSource& source, const Directory& directory, uint64_t end) {
  if (directory.offset > end || directory.size > end - directory.offset) {
    fail(source,
         concat("the archive's directory (", directory.size, " bytes at ", directory.offset,
                ") lies outside the file of ", source.size(), " bytes; incomplete download?"));
  }
  if (directory.size > kMaxDirectory) {
    fail(source, concat("the archive's directory is ", directory.size, " bytes, at most ",
                        kMaxDirectory, " are read"));
  }
}

Directory read_zip64_end(const ByteSource& source, uint64_t end_at) {
  if (end_at < kLocator64Size) fail(source, "the archive's zip64 locator is missing");
  std::array<std::byte, kLocator64Size> locator;
  source.read_at(end_at - kLocator64Size, locator);
  const Fields at(locator);
  if (at.u32(0) != kLocator64Magic) fail(source, "the archive's zip64 locator is missing");
  const uint64_t record_at = at.u64(8);
  if (record_at > end_at || end_at - record_at < kEnd64Size) {
    fail(source, "the archive's zip64 record lies outside the file");
  }
  std::array<std::byte, kEnd64Size> record;
  source.read_at(record_at, record);
  const Fields fields(record);
  if (fields.u32(0) != kEnd64Magic) fail(source, "the archive's zip64 record is damaged");
  const Directory directory{fields.u64(48), fields.u64(40)};
  check_inside(source, directory, record_at);
  return directory;
}

// The end record is the last thing in the file but for a comment whose length it states.
Directory find_directory(const ByteSource& source) {
  const uint64_t tail_size = std::min(source.size(), kEndSize + kMaxComment);
  const uint64_t tail_at = source.size() - tail_size;
  std::vector<std::byte> tail(static_cast<size_t>(tail_size));
  source.read_at(tail_at, tail);
  const Fields fields(tail);
  for (size_t at = tail.size() >= kEndSize ? tail.size() - kEndSize + 1 : 0; at-- > 0;) {
    if (fields.u32(at) != kEndMagic || fields.u16(at + 20) != tail.size() - at - kEndSize) continue;
    if (fields.u16(at + 4) != fields.u16(at + 6)) fail(source, "archives in parts are not read");
    Directory directory{fields.u32(at + 16), fields.u32(at + 12)};
    const bool zip64 = directory.offset == kIn64 || directory.size == kIn64 ||
                       fields.u16(at + 8) == 0xFFFF || fields.u16(at + 10) == 0xFFFF;
    if (zip64) return read_zip64_end(source, tail_at + at);
    check_inside(source, directory, tail_at + at);
    return directory;
  }
  fail(source, "the archive's directory at the end of the file is missing; incomplete download?");
}

struct Entry {
  ZipMember member;  // offset: of the local header, until it has been read
  uint64_t stored_size = 0;
};

// Sizes and offset that do not fit 32 bits stand in extra field 1, in this order.
void read_zip64_extra(std::span<const std::byte> extra, Entry& entry) {
  const std::array<uint64_t*, 3> wanted{&entry.member.size, &entry.stored_size,
                                        &entry.member.offset};
  const Fields fields(extra);
  for (size_t at = 0; extra.size() - at >= 4;) {
    const size_t length = fields.u16(at + 2);
    if (length > extra.size() - at - 4) return;
    if (fields.u16(at) == 1) {
      size_t value_at = at + 4;
      for (uint64_t* value : wanted) {
        if (*value != kIn64) continue;
        if (value_at + 8 > at + 4 + length) return;
        *value = fields.u64(value_at);
        value_at += 8;
      }
      return;
    }
    at += 4 + length;
  }
}

// Replaces the local header's offset by that of the data behind it.
void locate(const ByteSource& source, ZipMember& member, uint64_t end) {
  const std::string name = printable(member.name);
  std::array<std::byte, kLocalSize> header;
  if (member.offset > end || end - member.offset < kLocalSize) {
    fail(source, concat("archive member ", name, " lies outside the file"));
  }
  source.read_at(member.offset, header);
  const Fields fields(header);
  if (fields.u32(0) != kLocalMagic) {
    fail(source, concat("archive member ", name, " has no header where the directory says"));
  }
  const uint64_t start = member.offset + kLocalSize + fields.u16(26) + fields.u16(28);
  if (start > end || member.size > end - start) {
    fail(source, concat("archive member ", name, " of ", member.size, " bytes at ", start,
                        " lies outside the file of ", source.size(), " bytes"));
  }
  member.offset = start;
}

// One directory entry at `at`, which moves behind it.
ZipMember read_entry(const ByteSource& source, std::span<const std::byte> directory, size_t& at,
                     uint64_t end) {
  const Fields fields(directory.subspan(at));
  if (directory.size() - at < kEntrySize || fields.u32(0) != kEntryMagic) {
    fail(source, "the archive's directory is damaged");
  }
  const size_t name_size = fields.u16(28);
  const size_t extra_size = fields.u16(30);
  const size_t whole = kEntrySize + name_size + extra_size + fields.u16(32);
  if (whole > directory.size() - at) fail(source, "the archive's directory is damaged");
  Entry entry;
  entry.member.name.assign(reinterpret_cast<const char*>(&directory[at] + kEntrySize), name_size);
  entry.stored_size = fields.u32(20);
  entry.member.size = fields.u32(24);
  entry.member.offset = fields.u32(42);
  read_zip64_extra(directory.subspan(at + kEntrySize + name_size, extra_size), entry);
  const std::string name = printable(entry.member.name);
  if ((fields.u16(8) & 1) != 0) fail(source, concat("archive member ", name, " is encrypted"));
  if (fields.u16(10) != 0 || entry.stored_size != entry.member.size) {
    fail(source, concat("archive member ", name,
                        " is compressed; save the file again with torch.save, which stores"));
  }
  locate(source, entry.member, end);
  at += whole;
  return std::move(entry.member);
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const ByteSource> source) : source_(std::move(source)) {
  const Directory place = find_directory(*source_);
  std::vector<std::byte> directory(static_cast<size_t>(place.size));
  source_->read_at(place.offset, directory);
  for (size_t at = 0; at < directory.size();) {
    members_.push_back(read_entry(*source_, directory, at, place.offset));
  }
  std::sort(members_.begin(), members_.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
  for (size_t i = 1; i < members_.size(); ++i) {
    if (members_[i].name == members_[i - 1].name) {
      fail(*source_, concat("archive member ", printable(members_[i].name), " is there twice"));
    }
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto at = std::lower_bound(
      members_.begin(), members_.end(), name,
      [](const ZipMember& member, std::string_view key) { return member.name < key; });
  return at != members_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace remora::io

// Where bytes come from: one named file of a checkpoint, and the set of files that make one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remora::io {

// One file, read by position. Immutable and safe from several threads.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // As error messages show it: the path, or the name inside the set.
  const std::string& name() const { return name_; }
  virtual uint64_t size() const = 0;

  // Fills `dst` from `offset`; throws Error{kIo} when the range is outside the file or unreadable.
  virtual void read_at(uint64_t offset, std::span<std::byte> dst) const = 0;

  // The whole file in memory (mapped or lent), or empty where it can only be read.
  virtual std::span<const std::byte> view() const { return {}; }

  // Hint that these mapped bytes are not needed soon (no tensor shows them any more).
  virtual void release_pages(uint64_t /*offset*/, uint64_t /*length*/) const {}

 protected:
  // Throws Error{kIo} unless bytes `offset` to `offset + length` are inside.
  void check_range(uint64_t offset, uint64_t length) const;

 private:
  std::string name_;
};

// The named files of one checkpoint folder.
class FileSet {
 public:
  virtual ~FileSet() = default;
  virtual bool contains(std::string_view name) const = 0;
  // Throws Error{kIo} naming the file when it is missing or unreadable.
  virtual std::shared_ptr<const ByteSource> open(std::string_view name) const = 0;
  // The folder or a description such as "memory source": for messages.
  virtual std::string describe() const = 0;
  // Display name of a member, such as "dir/config.json".
  virtual std::string display_name(std::string_view name) const = 0;
};

// A folder on disk, files mapped read-only where the file system can, else read. Throws Error{kIo}
// when it is missing or not a folder.
std::shared_ptr<const FileSet> open_directory(const std::string& utf8_path);

// One file on disk, the same way. Throws Error{kIo}: missing, unreadable, not a regular file.
std::shared_ptr<const ByteSource> open_file(const std::string& utf8_path);

// The whole of a text file; Error{kFormat} when larger than `max_bytes`.
std::string read_text(const ByteSource& source, uint64_t max_bytes);

// True for a plain file name or a relative path that stays inside the folder ("a/b" yes; "../a",
// "/a", "" no). Names in a shard index must satisfy it.
bool is_inside_name(std::string_view name);

}  // namespace remora::io

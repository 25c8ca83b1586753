#include "io/source_set.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

void check_range(const ByteSource& source, uint64_t offset, uint64_t length) {
  if (offset > source.size() || length > source.size() - offset) {
    throw Error(Status::kIo, concat(source.name(), ": ends at byte ", source.size(), ", bytes ",
                                    offset, " to ", offset + length,
                                    " were wanted; incomplete download?"));
  }
}

// Memory lent by the host.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, const void* data, size_t size,
               std::shared_ptr<void> release)
      : ByteSource(std::move(name)),
        view_(static_cast<const std::byte*>(data), size),
        release_(std::move(release)) {}

  uint64_t size() const override { return view_.size(); }
  std::span<const std::byte> view() const override { return view_; }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(*this, offset, dst.size());
    if (!dst.empty()) std::memcpy(dst.data(), view_.data() + offset, dst.size());
  }

 private:
  std::span<const std::byte> view_;
  std::shared_ptr<void> release_;
};

// A file that only the host's callbacks can read.
class CallbackSource final : public ByteSource {
 public:
  CallbackSource(std::string name, std::shared_ptr<const ReaderCallbacks> reader,
                 ReaderCallbacks::Opened opened)
      : ByteSource(std::move(name)), reader_(std::move(reader)), opened_(opened) {}
  ~CallbackSource() override { reader_->close(opened_.file); }

  uint64_t size() const override { return opened_.size; }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(*this, offset, dst.size());
    if (dst.empty()) return;
    const std::lock_guard lock(mutex_);
    const int64_t got = reader_->read_at(opened_.file, offset, dst.data(), dst.size());
    if (got != static_cast<int64_t>(dst.size())) {
      throw Error(Status::kCallback, concat(name(), ": the reader gave ", got, " bytes at ", offset,
                                            " where ", dst.size(), " were asked for"));
    }
  }

 private:
  std::shared_ptr<const ReaderCallbacks> reader_;
  ReaderCallbacks::Opened opened_;
  mutable std::mutex mutex_;
};

}  // namespace

void SourceSet::add(const std::string& name, std::shared_ptr<const ByteSource> source) {
  if (!is_inside_name(name)) {
    throw Error(Status::kInvalidArgument,
                concat("source: '", name, "' is no file name of a checkpoint"));
  }
  files_.try_emplace(name, std::move(source));
}

void SourceSet::add_dir(const std::string& utf8_path) {
  folders_.push_back(open_directory(utf8_path));
}

void SourceSet::add_path(const std::string& name, const std::string& utf8_path) {
  add(name, open_file(utf8_path));
}

void SourceSet::add_memory(const std::string& name, const void* data, size_t size,
                           std::function<void()> release) {
  // Owned from here on: released whatever happens.
  std::shared_ptr<void> owner;
  if (release) {
    owner = std::shared_ptr<void>(nullptr, [release = std::move(release)](void*) { release(); });
  }
  add(name, std::make_shared<MemorySource>(name, data, size, std::move(owner)));
}

void SourceSet::set_reader(ReaderCallbacks reader) {
  reader_ = std::make_shared<const ReaderCallbacks>(std::move(reader));
}

bool SourceSet::contains(std::string_view name) const {
  if (files_.contains(name)) return true;
  for (const auto& folder : folders_) {
    if (folder->contains(name)) return true;
  }
  if (!reader_) return false;
  const auto opened = reader_->open(std::string(name));
  if (opened) reader_->close(opened->file);
  return opened.has_value();
}

std::shared_ptr<const ByteSource> SourceSet::open(std::string_view name) const {
  if (const auto at = files_.find(name); at != files_.end()) return at->second;
  for (const auto& folder : folders_) {
    if (folder->contains(name)) return folder->open(name);
  }
  if (reader_ && is_inside_name(name)) {
    if (const auto opened = reader_->open(std::string(name))) {
      return std::make_shared<CallbackSource>(std::string(name), reader_, *opened);
    }
  }
  throw Error(Status::kIo, concat(display_name(name), ": no such file in ", describe()));
}

std::string SourceSet::describe() const {
  return folders_.empty() ? "the source" : folders_.front()->describe();
}

std::string SourceSet::display_name(std::string_view name) const {
  return folders_.empty() ? std::string(name) : folders_.front()->display_name(name);
}

}  // namespace remora::io

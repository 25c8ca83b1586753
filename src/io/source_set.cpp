#include "io/source_set.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_source.h"
#include "io/json.h"
#include "io/quote.h"
#include "io/reader_source.h"

namespace remora::io {
namespace {

constexpr std::array<std::string_view, 2> kCodecWeights{"codec.safetensors", "codec.pth"};
constexpr std::string_view kCodecConfig = "codec.json";
constexpr std::string_view kConfig = "config.json";
constexpr uint64_t kMaxConfig = 1u << 20;

// Memory lent by the host; gives it back once.
class LentMemory {
 public:
  LentMemory(const void* data, size_t size, MemoryRelease release) noexcept
      : data_(data), size_(size), release_(release) {}
  LentMemory(LentMemory&& other) noexcept
      : data_(other.data_), size_(other.size_), release_(std::exchange(other.release_, {})) {}
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;
  ~LentMemory() {
    if (release_.call != nullptr) release_.call(release_.user, data_, size_);
  }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  const void* data_;
  size_t size_;
  MemoryRelease release_;
};

class LentSource final : public ByteSource {
 public:
  LentSource(std::string name, LentMemory memory)
      : ByteSource(std::move(name)), memory_(std::move(memory)) {}
  uint64_t size() const override { return memory_.bytes().size(); }
  std::span<const std::byte> view() const override { return memory_.bytes(); }
  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(offset, dst.size());
    if (!dst.empty()) std::memcpy(dst.data(), memory_.bytes().data() + offset, dst.size());
  }

 private:
  LentMemory memory_;
};

bool is_codec_file(std::string_view name) {
  return name == kCodecConfig ||
         std::find(kCodecWeights.begin(), kCodecWeights.end(), name) != kCodecWeights.end();
}

// A codec's configuration, not that of the language model beside it.
bool describes_codec(const ByteSource& config) {
  const JsonObject json(config, kMaxConfig);
  return json.has("quantizer") || json.has("decoder_rates");
}

}  // namespace

void SourceSet::check_new_name(std::string_view name) const {
  if (!is_inside_name(name)) {
    throw Error(Status::kInvalidArgument,
                concat("source: '", printable(name), "' is no relative file name"));
  }
  if (files_.contains(name)) {
    throw Error(Status::kInvalidArgument,
                concat("source: ", printable(name), " was added already"));
  }
}

void SourceSet::add_path(std::string_view name, const std::string& utf8_path) {
  check_new_name(name);
  files_.emplace(name, open_file(utf8_path));
}

void SourceSet::add_memory(std::string_view name, const void* data, size_t size,
                           MemoryRelease release) {
  LentMemory memory(data, size, release);
  check_new_name(name);
  if (data == nullptr && size > 0) {
    throw Error(Status::kInvalidArgument,
                concat("source: the memory of ", printable(name), " is null"));
  }
  files_.emplace(name, std::make_shared<LentSource>(concat(name, " (memory)"), std::move(memory)));
}

void SourceSet::add_fd(std::string_view name, int fd, uint64_t offset, uint64_t size) {
  check_new_name(name);
  std::string shown = concat(name, " (descriptor ", fd, ")");
  Descriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) throw_errno(shown, "use it", errno);
  files_.emplace(name, open_range(std::move(copy), std::move(shown), offset, size));
}

void SourceSet::add_dir(const std::string& utf8_path) {
  folders_.push_back(open_directory(utf8_path));
}

void SourceSet::add_codec_dir(const std::string& utf8_path) {
  std::shared_ptr<const FileSet> folder = open_directory(utf8_path);
  if (std::none_of(kCodecWeights.begin(), kCodecWeights.end(),
                   [&](std::string_view name) { return folder->contains(name); })) {
    throw Error(Status::kIo, concat(utf8_path, ": no codec here; looked for ", kCodecWeights[0],
                                    " and ", kCodecWeights[1]));
  }
  std::string config(kCodecConfig);
  if (!folder->contains(kCodecConfig) && folder->contains(kConfig) &&
      describes_codec(*folder->open(kConfig))) {
    config = kConfig;
  }
  codec_folder_ = std::move(folder);
  codec_config_ = std::move(config);
}

void SourceSet::set_reader(const Reader& reader) {
  if (reader.open == nullptr || reader.read_at == nullptr) {
    throw Error(Status::kInvalidArgument, "source: a reader needs open and read_at");
  }
  reader_ = reader;
}

const FileSet* SourceSet::folder_of(std::string_view name, std::string& name_there) const {
  if (codec_folder_ != nullptr && is_codec_file(name)) {
    name_there = name == kCodecConfig ? codec_config_ : std::string(name);
    return codec_folder_->contains(name_there) ? codec_folder_.get() : nullptr;
  }
  name_there = name;
  for (const auto& folder : folders_) {
    if (folder->contains(name)) return folder.get();
  }
  return nullptr;
}

bool SourceSet::asks_reader(std::string_view name) const {
  const bool settled = codec_folder_ != nullptr && is_codec_file(name);
  return reader_.open != nullptr && !settled && is_inside_name(name);
}

bool SourceSet::contains(std::string_view name) const {
  std::string there;
  if (files_.contains(name) || folder_of(name, there) != nullptr) return true;
  return asks_reader(name) && open_with_reader(reader_, name) != nullptr;
}

std::shared_ptr<const ByteSource> SourceSet::open(std::string_view name) const {
  if (const auto file = files_.find(name); file != files_.end()) return file->second;
  if (!is_inside_name(name)) {
    throw Error(Status::kFormat,
                concat("source: file name '", printable(name), "' points outside"));
  }
  std::string there;
  if (const FileSet* folder = folder_of(name, there)) return folder->open(there);
  if (asks_reader(name)) {
    if (auto source = open_with_reader(reader_, name)) return source;
  }
  throw Error(Status::kIo, concat(printable(name), ": no such file in ", describe()));
}

std::string SourceSet::describe() const {
  std::string out;
  const auto add = [&](std::string_view part) { out += concat(out.empty() ? "" : ", ", part); };
  for (const auto& folder : folders_) add(folder->describe());
  if (codec_folder_ != nullptr) add(concat("codec of ", codec_folder_->describe()));
  if (!files_.empty()) add(concat(files_.size(), files_.size() == 1 ? " file" : " files"));
  if (reader_.open != nullptr) add("reader");
  return concat("source (", out.empty() ? "empty" : out, ")");
}

std::string SourceSet::display_name(std::string_view name) const {
  if (const auto file = files_.find(name); file != files_.end()) return file->second->name();
  std::string there;
  if (const FileSet* folder = folder_of(name, there)) return folder->display_name(there);
  return printable(name);
}

}  // namespace remora::io

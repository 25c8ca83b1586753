#include "io/reader_source.h"

#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

constexpr uint64_t kMaxSize = std::numeric_limits<int64_t>::max();

// "REMORA_E_IO" or, for a number that is no status, "-77".
std::string shown(int64_t code) {
  const bool fits = code >= std::numeric_limits<int32_t>::min() && code <= 0;
  const std::string_view name = fits ? status_name(static_cast<int32_t>(code)) : "";
  return name.empty() || name == "REMORA_E_UNKNOWN" ? concat(code) : std::string(name);
}

class ReaderSource final : public ByteSource {
 public:
  ReaderSource(const Reader& reader, const std::string& name)
      : ByteSource(name + " (reader)"), reader_(reader) {
    status_ = reader_.open(reader_.user, name.c_str(), &file_, &size_);
  }
  ~ReaderSource() override {
    if (status_ == 0 && reader_.close != nullptr) reader_.close(reader_.user, file_);
  }

  int32_t open_status() const { return status_; }
  uint64_t size() const override { return size_; }

  void read_at(uint64_t offset, std::span<std::byte> dst) const override {
    check_range(offset, dst.size());
    if (dst.empty()) return;
    const std::lock_guard lock(mutex_);
    const int64_t n = reader_.read_at(reader_.user, file_, offset, dst.data(), dst.size());
    if (n < 0) {
      throw Error(Status::kCallback,
                  concat(name(), ": the reader failed at byte ", offset, ": ", shown(n)));
    }
    if (static_cast<uint64_t>(n) != dst.size()) {
      throw Error(Status::kCallback, concat(name(), ": the reader gave ", n, " of ", dst.size(),
                                            " bytes at byte ", offset));
    }
  }

 private:
  Reader reader_;
  void* file_ = nullptr;
  uint64_t size_ = 0;
  int32_t status_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace

std::shared_ptr<const ByteSource> open_with_reader(const Reader& reader, std::string_view name) {
  const auto source = std::make_shared<ReaderSource>(reader, std::string(name));
  const int32_t status = source->open_status();
  if (status == static_cast<int32_t>(Status::kIo)) return nullptr;
  if (status != 0) {
    throw Error(Status::kCallback,
                concat(source->name(), ": the reader could not open it: ", shown(status)));
  }
  if (source->size() > kMaxSize) {
    throw Error(Status::kCallback, concat(source->name(), ": the reader says it has ",
                                          source->size(), " bytes, which cannot be"));
  }
  return source;
}

}  // namespace remora::io

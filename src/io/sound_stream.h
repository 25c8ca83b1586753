// libsndfile behind two rules: it touches no file by itself, and no exception crosses it.
#pragma once

#include <sndfile.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace remora::io {

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;

// Bytes with a position, as libsndfile reads and writes them. Its C frames must not be unwound: an
// exception of the derived class is kept, the call fails, and rethrow() brings it up again after
// libsndfile has returned.
class SoundStream {
 public:
  virtual ~SoundStream() = default;

  // Empty with `reason` filled when libsndfile refuses; a kept exception is thrown.
  Sound open(int mode, SF_INFO& info, std::string& reason);
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 protected:
  virtual uint64_t stream_size() const = 0;
  virtual size_t read_at(uint64_t offset, std::span<std::byte> dst) = 0;
  virtual void write_at(uint64_t offset, std::span<const std::byte> bytes) = 0;

 private:
  static SF_VIRTUAL_IO callbacks();
  template <typename Call>
  static sf_count_t guarded(void* user, Call&& call);

  uint64_t position_ = 0;
  std::exception_ptr failure_;
};

}  // namespace remora::io

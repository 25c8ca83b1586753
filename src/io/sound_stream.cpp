#include "io/sound_stream.h"

#include <algorithm>

namespace remora::io {

template <typename Call>
sf_count_t SoundStream::guarded(void* user, Call&& call) {
  auto& stream = *static_cast<SoundStream*>(user);
  try {
    return call(stream);
  } catch (...) {
    // The first one is the cause; libsndfile may go on and meet more.
    if (!stream.failure_) stream.failure_ = std::current_exception();
    return 0;
  }
}

SF_VIRTUAL_IO SoundStream::callbacks() {
  SF_VIRTUAL_IO io{};
  io.get_filelen = [](void* user) {
    return guarded(user, [](SoundStream& s) { return static_cast<sf_count_t>(s.stream_size()); });
  };
  io.seek = [](sf_count_t offset, int whence, void* user) {
    return guarded(user, [&](SoundStream& s) {
      const auto base = whence == SEEK_CUR   ? static_cast<sf_count_t>(s.position_)
                        : whence == SEEK_END ? static_cast<sf_count_t>(s.stream_size())
                                             : sf_count_t{0};
      sf_count_t target = 0;
      if (__builtin_add_overflow(base, offset, &target) || target < 0) return sf_count_t{-1};
      s.position_ = static_cast<uint64_t>(target);
      return target;
    });
  };
  io.read = [](void* to, sf_count_t count, void* user) {
    return guarded(user, [&](SoundStream& s) {
      if (count <= 0) return sf_count_t{0};
      const size_t n =
          s.read_at(s.position_, {static_cast<std::byte*>(to), static_cast<size_t>(count)});
      s.position_ += n;
      return static_cast<sf_count_t>(n);
    });
  };
  io.write = [](const void* from, sf_count_t count, void* user) {
    return guarded(user, [&](SoundStream& s) {
      if (count <= 0) return sf_count_t{0};
      s.write_at(s.position_, {static_cast<const std::byte*>(from), static_cast<size_t>(count)});
      s.position_ += static_cast<uint64_t>(count);
      return count;
    });
  };
  io.tell = [](void* user) {
    return guarded(user, [](SoundStream& s) { return static_cast<sf_count_t>(s.position_); });
  };
  return io;
}

Sound SoundStream::open(int mode, SF_INFO& info, std::string& reason) {
  // libsndfile keeps the reason of a failed open in a variable of the whole process.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  SF_VIRTUAL_IO io = callbacks();
  Sound sound(sf_open_virtual(&io, mode, &info, this));
  if (sound == nullptr) reason = sf_strerror(nullptr);
  rethrow();
  return sound;
}

}  // namespace remora::io

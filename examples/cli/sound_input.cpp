#include "sound_input.h"

#include "failure.h"

namespace remora::cli {

Sound read_sound(const std::string& path) {
  remora_audio_info info = {};
  info.struct_size = sizeof info;
  check(remora_audio_describe(path.c_str(), &info));
  Sound sound{{}, info.channels, info.sample_rate};
  sound.interleaved.resize(info.frames * static_cast<uint64_t>(info.channels));
  size_t needed = 0;
  check(
      remora_audio_read(path.c_str(), sound.interleaved.data(), sound.interleaved.size(), &needed));
  sound.interleaved.resize(needed);
  return sound;
}

IntMatrix encode_sound(const LoadedModel& model, const Sound& sound) {
  size_t needed = 0;
  const auto encode = [&](int32_t* codes, size_t capacity) {
    check(remora_codec_encode(model.model.get(), sound.interleaved.data(), sound.frames(),
                              sound.channels, sound.sample_rate, codes, capacity, &needed));
  };
  encode(nullptr, 0);
  IntMatrix codes;
  codes.values.resize(needed);
  encode(codes.values.data(), codes.values.size());
  codes.rows = model.info.n_codebooks;
  codes.columns = static_cast<int64_t>(needed) / codes.rows;
  return codes;
}

}  // namespace remora::cli

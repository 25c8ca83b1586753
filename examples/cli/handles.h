// The library's objects as C++ values that free themselves.
#pragma once

#include <remora/remora.h>

#include <memory>

namespace remora::cli {

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};

using SourcePtr = std::unique_ptr<remora_source, Destroyer<remora_source_destroy>>;
using ModelPtr = std::unique_ptr<remora_model, Destroyer<remora_model_destroy>>;
using VoicePtr = std::unique_ptr<remora_voice, Destroyer<remora_voice_destroy>>;
using SessionPtr = std::unique_ptr<remora_session, Destroyer<remora_session_destroy>>;
using CodecStreamPtr = std::unique_ptr<remora_codec_stream, Destroyer<remora_codec_stream_destroy>>;

}  // namespace remora::cli

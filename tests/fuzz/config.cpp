// The JSON files of a checkpoint. The first byte says which: 0 the language model's configuration,
// 1 the codec's, 2 the index of the weight files.
#include "fuzz.h"

#include "codec/config.h"
#include "io/checkpoint.h"
#include "io/json.h"
#include "io/memory_source.h"
#include "lm/config.h"

namespace {

// A header and one float: {"a": float32 [1]}.
constexpr char kShard[] =
    "\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}          "
    "\0\0\0\0";

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  if (size == 0) return 0;
  const std::string_view json = fuzz::text_of(data + 1, size - 1);
  fuzz::accepts([&] {
    switch (data[0] - '0') {
      case 0:
        return void(lm::parse_lm_config(*test::memory_source("config.json", json)));
      case 1: {
        const io::JsonObject object(*test::memory_source("codec.json", json), 1 << 20);
        const codec::CodecConfig config = codec::parse_codec_config(object);
        return fuzz::require(config.frame_length() > 0, "a frame has samples");
      }
      default:
        io::read_checkpoint(
            test::MemoryFiles{{{"model.safetensors.index.json", std::string(json)},
                               {"a.safetensors", std::string(kShard, sizeof kShard - 1)}}});
    }
  });
  return 0;
}

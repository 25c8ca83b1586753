// A sound file in memory, read block by block and as the reference of a voice.
#include "fuzz.h"

#include <cmath>

#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/reference_audio.h"

namespace {

constexpr double kMostSeconds = 2;
constexpr int32_t kRate = 16000;

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  const auto source = test::memory_source("f.wav", fuzz::text_of(data, size), size % 2 == 0);
  fuzz::accepts([&] {
    io::AudioReader reader(source, kMostSeconds);
    for (auto block = reader.read(); !block.empty(); block = reader.read()) {
      for (const float sample : block) fuzz::require(std::isfinite(sample), "samples are numbers");
    }
  });
  fuzz::accepts([&] {
    const auto audio = io::read_reference_audio(source, kRate, {.max_seconds = kMostSeconds});
    fuzz::require(!audio.samples.empty(), "a reference has samples");
  });
  return 0;
}

// A voice file with a right checksum; what is accepted must make a prompt.
#include "fuzz.h"
#include "sealed.h"
#include "tiny.h"

#include "engine/session.h"
#include "engine/voice_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  static const auto& model =
      *new std::shared_ptr<const engine::Model>(fuzz::tiny_model("s2pro_tiny", false, true));
  const auto given = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(given.begin(), given.end());
  fuzz::accepts([&] { engine::load_voice(*model, bytes); });
  fuzz::seal(bytes);
  std::shared_ptr<const engine::Voice> voice;
  if (!fuzz::accepts([&] { voice = engine::load_voice(*model, bytes); })) return 0;
  engine::Request request;
  request.text = "Hi.";
  request.voices = {voice};
  const text::Columns prompt = engine::first_prompt(model, request);
  fuzz::require(prompt.count() > static_cast<size_t>(voice->reference().frames),
                "the prompt holds the voice");
  fuzz::require(engine::save_voice(*voice) == bytes, "what was accepted is saved as it was");
  return 0;
}

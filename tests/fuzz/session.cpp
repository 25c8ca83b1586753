// A saved session with right checksums; what is accepted must go on. The first byte says for which
// model: 0 one without sound, else one with a codec.
#include "fuzz.h"
#include "sealed.h"
#include "tiny.h"

#include <ATen/Parallel.h>

#include <array>

#include "engine/session.h"

namespace {

using namespace remora;

constexpr int kSteps = 3;

engine::SessionOptions options() {
  engine::SessionOptions options;
  options.decoder.threads = 1;
  options.keep_logits = true;
  return options;
}

struct Tiny {
  explicit Tiny(bool with_codec)
      : model(fuzz::tiny_model("s2pro_tiny", with_codec)), session(model, options()) {}
  std::shared_ptr<const engine::Model> model;
  engine::Session session;
};

Tiny& tiny(bool with_codec) {
  static const bool one_thread = (at::set_num_threads(1), true);
  static auto* const silent = new Tiny(!one_thread);
  static auto* const sounding = new Tiny(true);
  return with_codec ? *sounding : *silent;
}

// Everything that a host may do next. Each may be refused, none may do harm.
void go_on(engine::Session& session) {
  fuzz::accepts([&] {
    const auto copy = session.clone();
    for (int i = 0; i < kSteps; ++i) copy->step();
    copy->rewind(copy->position() / 2);
  });
  const std::vector<std::byte> again = session.save();
  session.load(again);
  fuzz::accepts([&] {
    for (int i = 0; i < kSteps; ++i) session.step();
    session.logits(0);
  });
  fuzz::accepts([&] {
    std::array<float, 5000> pcm;
    bool over = false;
    session.read_pcm(pcm, over);
  });
  fuzz::accepts([&] {
    engine::Request request;
    request.text = "Go on.";
    request.keep_context = true;
    session.prefill(request);
    session.step();
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  engine::Session& session = tiny(data[0] != '0').session;
  const auto given = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<std::byte> bytes(given.begin(), given.end());
  fuzz::accepts([&] { session.load(bytes); });
  session.reset();
  fuzz::seal_session(bytes);
  if (fuzz::accepts([&] { session.load(bytes); })) {
    go_on(session);
  } else {
    fuzz::require(session.position() == 0, "what was refused has changed nothing");
  }
  session.reset();
  return 0;
}

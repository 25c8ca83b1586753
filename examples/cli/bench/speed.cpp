#include "bench/speed.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "bench/frame_bytes.h"
#include "bench/read_bandwidth.h"
#include "bench/timing.h"
#include "bench/together.h"
#include "bench/trial.h"
#include "failure.h"
#include "terminal.h"

namespace remora::cli {
namespace {

constexpr int kWarmSteps = 2;         // caches grow and kernels are chosen in the first ones
constexpr int64_t kCodecPiece = 12;   // frames, the largest piece of a streaming session
constexpr int32_t kChainFrames = 36;  // three of the largest pieces
constexpr int kTries = 20;            // restarts of a model that ends too early

struct FrameTimes {
  Samples prefill;
  Samples frame;
  Samples slow;
};

// Samples at one prefix. A model that ends meanwhile starts again with other choices.
FrameTimes measure_frames(const LoadedModel& model, const SessionOptions& session, int64_t prefix,
                          int repeat) {
  remora_sampling sampling;
  check(remora_sampling_init(&sampling, sizeof sampling));
  sampling.max_frames_per_byte = 0;
  Trial trial(model, session.to_library(), sampling);
  const std::vector<int32_t> prompt = prompt_of_length(model, prefix);
  FrameTimes times;
  const bool on_cpu = model.info.device == REMORA_DEVICE_CPU;
  for (int i = 0; i < repeat; ++i) {
    const double elapsed = trial.prefill(prompt);
    // On a GPU the first step waits for the prefill; what it takes itself is taken off later.
    times.prefill.add(on_cpu ? elapsed : elapsed + trial.step().value_or(0));
  }
  int steps = 0;
  for (int tries = 0; times.frame.size() < static_cast<size_t>(repeat);) {
    if (const std::optional<double> elapsed = trial.step()) {
      if (++steps > kWarmSteps) times.frame.add(*elapsed);
    } else {
      if (++tries > kTries) throw Failure(kError, "bench: the model keeps ending at once");
      trial.reseed();
      trial.prefill(prompt);
      steps = 0;
    }
  }
  for (int i = 0; i < repeat && on_cpu; ++i) times.slow.add(trial.slow_step());
  return times;
}

// Real-time factor of decoding in pieces.
Samples measure_codec(const LoadedModel& model, int repeat) {
  remora_codec_stream* made = nullptr;
  check(remora_codec_stream_create(model.model.get(), &made));
  const CodecStreamPtr stream(made);
  std::vector<int32_t> codes(static_cast<size_t>(model.info.n_codebooks * kCodecPiece));
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int32_t>(i * 37 % 256);
  std::vector<float> pcm(static_cast<size_t>(model.info.samples_per_frame * kCodecPiece));
  const double seconds = static_cast<double>(pcm.size()) / model.info.sample_rate;
  Samples samples;
  for (int i = 0; i < repeat + 1; ++i) {
    size_t needed = 0;
    const auto start = std::chrono::steady_clock::now();
    check(remora_codec_stream_push(stream.get(), codes.data(), kCodecPiece, pcm.data(), pcm.size(),
                                   &needed));
    if (i > 0) samples.add(milliseconds_since(start) / 1e3 / seconds);  // the first one warms up
  }
  return samples;
}

struct Chain {
  Samples rtf;
  Samples first_audio_ms;
};

int32_t REMORA_CALL ignore_audio(void*, const float*, size_t, int32_t) { return 0; }

// Text to sound as an application streams it; the real-time factor is that of all but the prefill.
Chain measure_chain(const LoadedModel& model, const SessionOptions& options, int repeat) {
  const remora_session_params params = options.to_library();
  remora_session* made = nullptr;
  check(remora_session_create(model.model.get(), &params, &made));
  const SessionPtr session(made);
  remora_sampling sampling;
  check(remora_sampling_init(&sampling, sizeof sampling));
  sampling.max_frames = kChainFrames;
  sampling.max_frames_per_byte = 0;
  const std::vector<int32_t> tokens = prompt_of_length(model, 64);
  remora_prompt prompt;
  check(remora_prompt_init(&prompt, sizeof prompt));
  prompt.tokens = tokens.data();
  prompt.n_tokens = 64;
  Chain chain;
  for (int tries = 0; chain.rtf.size() < static_cast<size_t>(repeat); ++tries) {
    if (tries > repeat + kTries) throw Failure(kError, "bench: the model keeps ending at once");
    check(remora_session_reset(session.get()));
    check(remora_session_set_sampling(session.get(), &sampling));
    ++sampling.seed;
    const auto start = std::chrono::steady_clock::now();
    check(remora_session_generate(session.get(), &prompt, ignore_audio, nullptr));
    const double elapsed = milliseconds_since(start);
    remora_stats stats = {};
    stats.struct_size = sizeof stats;
    check(remora_session_stats(session.get(), &stats));
    if (stats.frames < kCodecPiece) continue;  // ended too early to be worth timing
    const double seconds = static_cast<double>(stats.samples) / model.info.sample_rate;
    chain.rtf.add((elapsed - static_cast<double>(stats.prefill_ns) / 1e6) / 1e3 / seconds);
    chain.first_audio_ms.add(static_cast<double>(stats.first_audio_ns) / 1e6);
  }
  return chain;
}

void add_frames(const LoadedModel& model, const SessionOptions& session,
                const SpeedOptions& options, Json& json) {
  json["frame_ms"] = Json::object();
  for (const int64_t prefix : options.prefixes) {
    if (prefix + options.repeat + kWarmSteps > model.info.max_seq_len) {
      note("bench: prefix " + std::to_string(prefix) + " left out, the model has room for " +
           std::to_string(model.info.max_seq_len) + " columns");
      continue;
    }
    const FrameTimes times = measure_frames(model, session, prefix, options.repeat);
    json["frame_ms"][std::to_string(prefix)] = times.frame.json();
    if (prefix != options.prefixes.front()) continue;
    const bool on_cpu = model.info.device == REMORA_DEVICE_CPU;
    const double prefill_ms = times.prefill.median() - (on_cpu ? 0 : times.frame.median());
    json["prefill_tok_s"] = rounded(static_cast<double>(prefix) / prefill_ms * 1e3);
    if (!on_cpu) continue;
    json["slow_ms"] = rounded(times.slow.median());
    json["fast_ms"] = rounded(times.frame.median() - times.slow.median());
  }
}

void add_sound(const LoadedModel& model, const SessionOptions& session, int repeat, Json& json) {
  if (model.info.has_codec == 0) return;
  const Samples codec = measure_codec(model, repeat);
  json["codec"] = {{"rtf", rounded(codec.median(), 4)},
                   {"rtf_min", rounded(codec.min(), 4)},
                   {"rtf_max", rounded(codec.max(), 4)},
                   {"chunk_frames", kCodecPiece}};
  const Chain chain = measure_chain(model, session, repeat);
  json["chain_rtf"] = rounded(chain.rtf.median(), 4);
  json["first_audio_ms"] = rounded(chain.first_audio_ms.median());
}

void add_limit(const LoadedModel& model, const ModelOptions& model_options,
               const SpeedOptions& options, Json& json) {
  const Samples bandwidth = read_bandwidth(options.threads, std::max(options.repeat, 5));
  json["read_bandwidth_gb_s"] = rounded(bandwidth.median());
  const int64_t prefix = options.prefixes.front();
  const uint64_t bytes = bytes_per_frame(model, model_options, prefix);
  const auto frame = json["frame_ms"].find(std::to_string(prefix));
  if (bytes == 0 || frame == json["frame_ms"].end()) return;
  const double limit_ms = static_cast<double>(bytes) / bandwidth.median() / 1e6;
  json["bytes_per_frame"] = bytes;
  json["percent_of_limit"] = rounded(100 * limit_ms / (*frame)["median"].get<double>(), 1);
}

}  // namespace

Json measure_speed(const LoadedModel& model, const ModelOptions& model_options,
                   const SessionOptions& session_options, const SpeedOptions& options) {
  Json json = {{"model", model.name},
               {"weights", weights_word(model.info.weights)},
               {"dtype", dtype_word(model.info.dtype)},
               {"codec_dtype", dtype_word(model.info.codec_dtype)},
               {"device", device_word(model.info.device, model.info.device_index)},
               {"threads", options.threads},
               {"prompt", options.prefixes.front()},
               {"prefill_tok_s", nullptr},
               {"frame_ms", nullptr},
               {"slow_ms", nullptr},
               {"fast_ms", nullptr},
               {"codec", nullptr},
               {"chain_rtf", nullptr},
               {"first_audio_ms", nullptr},
               {"load_ms", rounded(model.load_ms)},
               {"read_bandwidth_gb_s", nullptr},
               {"bytes_per_frame", nullptr},
               {"percent_of_limit", nullptr},
               {"peak_rss_bytes", nullptr}};
  add_frames(model, session_options, options, json);
  if (!options.sessions.empty()) {
    json["together_ms"] = measure_together(model, session_options, options.prefixes.front(),
                                           options.sessions, options.repeat);
  }
  add_sound(model, session_options, options.repeat, json);
  json["peak_rss_bytes"] = peak_rss_bytes();  // before the bandwidth's own buffer
  add_limit(model, model_options, options, json);
  return json;
}

}  // namespace remora::cli

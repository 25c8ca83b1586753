#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <memory>

#include "audio_output.h"
#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "model_loading.h"
#include "npy.h"
#include "report.h"
#include "speech.h"
#include "terminal.h"

namespace remora::cli {
namespace {

struct DecodeOptions {
  ModelOptions model;
  AudioOptions audio;
  std::string codes;
  int32_t stream = 0;  // frames of a piece; 0: whole
  bool json = false;
};

// The codec alone is enough, unless the codes are those of a language model with fewer codebooks.
LoadedModel load_decoder(const ModelOptions& options, int64_t rows) {
  {
    LoadedModel codec = load_model(options, REMORA_MODEL_NO_ENCODER | REMORA_MODEL_NO_LM, true);
    const bool fewer = rows < codec.info.n_codebooks;
    if (!fewer || (options.model.empty() && options.random.empty())) return codec;
  }
  return load_model(options, REMORA_MODEL_NO_ENCODER);
}

LoadedModel load_for_decoding(const DecodeOptions& options, const IntMatrix& codes) {
  LoadedModel model = load_decoder(options.model, codes.rows);
  if (model.info.has_codec == 0) {
    throw Failure(kError, model.name + ": has no codec; add --codec DIR");
  }
  if (codes.rows != model.info.n_codebooks) {
    throw Failure(kError, options.codes + ": has " + std::to_string(codes.rows) +
                              " rows, expected " + std::to_string(model.info.n_codebooks) +
                              ", one for each codebook; do codes and codec belong together?");
  }
  return model;
}

// False when Ctrl-C came between two pieces.
bool decode_in_pieces(const LoadedModel& model, const IntMatrix& codes, int64_t piece,
                      AudioOutput& output) {
  remora_codec_stream* made = nullptr;
  check(remora_codec_stream_create(model.model.get(), &made));
  const CodecStreamPtr stream(made);
  Progress progress;
  std::vector<int32_t> part;
  std::vector<float> pcm;
  for (int64_t first = 0; first < codes.columns; first += piece) {
    if (Interrupt::raised()) return false;
    const int64_t n = std::min(piece, codes.columns - first);
    part.clear();
    for (int64_t row = 0; row < codes.rows; ++row) {
      const auto begin = codes.values.begin() + row * codes.columns + first;
      part.insert(part.end(), begin, begin + n);
    }
    pcm.resize(static_cast<size_t>(n) * static_cast<size_t>(model.info.samples_per_frame));
    size_t needed = 0;
    check(remora_codec_stream_push(stream.get(), part.data(), static_cast<size_t>(n), pcm.data(),
                                   pcm.size(), &needed));
    output.write(pcm);
    progress.show("decoding", static_cast<double>(first + n) / static_cast<double>(codes.columns));
  }
  return true;
}

int run_decode(const DecodeOptions& options) {
  check_audio_options(options.audio, options.json);
  if (!options.audio.wanted() && !options.json) {
    throw Failure(kUsage, "nothing to write: give -o FILE (or - for stdout) or --json");
  }
  const IntMatrix codes = read_npy(options.codes);
  const LoadedModel model = load_for_decoding(options, codes);
  const auto output = open_audio_output(options.audio, model.info.sample_rate);

  const auto start = std::chrono::steady_clock::now();
  bool whole = true;
  if (options.stream > 0) {
    whole = decode_in_pieces(model, codes, options.stream, *output);
  } else {
    decode_whole(model, codes, *output);
  }
  const double elapsed = milliseconds_since(start);
  output->finish();

  const double seconds =
      static_cast<double>(output->samples()) / static_cast<double>(model.info.sample_rate);
  const double factor = seconds > 0 ? elapsed / 1e3 / seconds : 0;
  if (options.json) {
    print_json({{"frames", output->samples() / static_cast<uint64_t>(model.info.samples_per_frame)},
                {"samples", output->samples()},
                {"sample_rate", model.info.sample_rate},
                {"decode_ms", rounded(elapsed)},
                {"realtime_factor", rounded(factor, 4)},
                {"peak_rss_bytes", peak_rss_bytes()}});
  } else {
    note(fixed(seconds, 2) + " s of sound in " + fixed(elapsed / 1e3, 2) + " s (" +
         fixed(factor, 2) + " x real time)");
  }
  if (!whole) note("interrupted; the sound so far was written");
  return whole ? kDone : kInterrupted;
}

}  // namespace

void add_decode(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("decode", "Turn codes into sound");
  const auto options = std::make_shared<DecodeOptions>();
  command->add_option("CODES", options->codes, "Codes [codebooks, frames] as .npy")
      ->required()
      ->type_name("");
  add_audio_options(*command, options->audio);
  command->add_option("--stream", options->stream, "Decode in pieces of N frames (default: whole)")
      ->check(CLI::Range(1, 1 << 30).description(""))
      ->type_name("N");
  command->add_flag("--json", options->json, "Report as one JSON object on stdout");
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_decode(*options); });
}

}  // namespace remora::cli

// Speed of a codec of the released size with random weights, for docs/codec.md:
//   codec_bench [threads] [f32|bf16|f16] [decode|encode] [frames per piece] [seconds of audio]
// 0 frames per piece: the whole clip in one call, as a host would hand it over; its samples count
// as memory, too. Prints the median and the spread of the real-time factor over the pieces, and the
// processor time per second of sound, which a busy machine disturbs less (use one thread: waiting
// threads spin).
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decode_stream.h"
#include "codec/encode_stream.h"
#include "peak_memory.h"
#include "random_codec.h"

namespace {

using Clock = std::chrono::steady_clock;
using remora::codec::Codec;
using remora::codec::CodecConfig;

struct Request {
  int threads = 2;
  std::string dtype = "f32";
  std::string direction = "decode";
  int64_t piece = 12;
  double seconds = 12.0;
};

Request parse(int argc, char** argv) {
  Request request;
  if (argc > 1) request.threads = std::atoi(argv[1]);
  if (argc > 2) request.dtype = argv[2];
  if (argc > 3) request.direction = argv[3];
  if (argc > 4) request.piece = std::atoll(argv[4]);
  if (argc > 5) request.seconds = std::atof(argv[5]);
  return request;
}

at::ScalarType dtype_of(std::string_view name) {
  if (name == "bf16") return at::kBFloat16;
  return name == "f16" ? at::kHalf : at::kFloat;
}

// A line of this process's status, in MiB: VmRSS is resident now, VmHWM the most so far.
double status_mib(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::atof(line.c_str() + field.size() + 1) / 1024.0;
  }
  return 0.0;
}

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// From here on VmHWM counts anew: loading needs more than running.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Seconds that each piece took.
template <typename Step>
std::vector<double> timed(int64_t pieces, Step step) {
  std::vector<double> times;
  for (int64_t i = 0; i < pieces; ++i) {
    const auto begin = Clock::now();
    step(i);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return times;
}

struct Pieces {
  int64_t count;
  int64_t frames;  // of each
};

Pieces pieces_of(const Request& request, const CodecConfig& config) {
  const double frames = request.seconds * config.sample_rate / config.frame_length();
  if (request.piece == 0) return {1, std::max<int64_t>(1, static_cast<int64_t>(frames))};
  return {std::max<int64_t>(3, static_cast<int64_t>(frames) / request.piece), request.piece};
}

std::vector<double> run(const std::shared_ptr<const Codec>& codec, const Request& request,
                        const Pieces& pieces) {
  const CodecConfig& config = codec->config();
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(1);
  const bool whole = request.piece == 0;
  if (request.direction == "encode") {
    const at::Tensor samples = at::rand({pieces.frames * config.frame_length()}, generator,
                                        at::TensorOptions().dtype(at::kFloat))
                                   .sub_(0.5);
    if (whole) return timed(1, [&](int64_t) { codec->encode(samples); });
    remora::codec::EncodeStream stream(codec);
    return timed(pieces.count, [&](int64_t) { stream.push(samples); });
  }
  const at::Tensor codes =
      at::randint(0, config.residual_entries, {config.n_codebooks(), pieces.frames}, generator,
                  at::TensorOptions().dtype(at::kInt));
  if (whole) return timed(1, [&](int64_t) { codec->decode(codes); });
  remora::codec::DecodeStream stream(codec);
  return timed(pieces.count, [&](int64_t) { stream.push(codes); });
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse(argc, argv);
  at::set_num_threads(request.threads);
  const CodecConfig config;
  const bool encode = request.direction == "encode";
  const auto codec = std::make_shared<const Codec>(
      remora::test::random_codec(config, 1), config,
      remora::codec::CodecOptions{
          .dtype = dtype_of(request.dtype), .decoder = !encode, .encoder = encode});
  forget_peak();
  const double loaded = status_mib("VmRSS");
  const double code = status_mib("RssFile");
  const Pieces pieces = pieces_of(request, config);
  const double piece_seconds =
      static_cast<double>(pieces.frames * config.frame_length()) / config.sample_rate;
  const remora::test::PeakMemory tensors;
  const std::clock_t begin = std::clock();
  std::vector<double> times = run(codec, request, pieces);
  const double processor = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const double first = times[0];
  std::sort(times.begin(), times.end());
  std::printf(
      "%s %s, %d threads, %lld pieces of %lld frames: RTF median %.3f (best %.3f, worst %.3f), "
      "processor %.3f s/s, first piece %.0f ms, peak %.1f MiB beyond "
      "%.0f (tensors %.1f, library code %.1f), weights %.0f MiB\n",
      request.dtype.c_str(), request.direction.c_str(), request.threads,
      static_cast<long long>(pieces.count), static_cast<long long>(pieces.frames),
      times[times.size() / 2] / piece_seconds, times.front() / piece_seconds,
      times.back() / piece_seconds, processor / (piece_seconds * static_cast<double>(pieces.count)),
      first * 1e3, status_mib("VmHWM") - loaded, loaded, mib(tensors.bytes()),
      status_mib("RssFile") - code, mib(static_cast<int64_t>(codec->weight_bytes())));
  return 0;
}

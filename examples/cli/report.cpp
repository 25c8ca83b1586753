#include "report.h"

#include <sys/resource.h>

#include <array>
#include <cmath>

#include "files.h"

namespace remora::cli {
namespace {

// The word at `index`, or "unknown" for a number that a newer library may send.
template <size_t N>
const char* word(const std::array<const char*, N>& words, int32_t index) {
  return index >= 0 && index < static_cast<int32_t>(N) ? words[static_cast<size_t>(index)]
                                                       : "unknown";
}

}  // namespace

const char* finish_word(remora_finish finish) {
  static constexpr std::array kWords = {"none",     "end_token", "length",
                                        "capacity", "cancelled", "error"};
  return word(kWords, finish);
}

const char* sdpa_word(remora_sdpa_policy policy) {
  // The last one cannot be asked for: the library's own kernel, chosen by "auto".
  static constexpr std::array kWords = {"auto", "math", "flash", "efficient", "cudnn", "builtin"};
  return word(kWords, policy);
}

const char* kv_word(remora_kv_mode mode) {
  static constexpr std::array kWords = {"active", "full", "graph"};
  return word(kWords, mode);
}

const char* dtype_word(remora_dtype dtype) {
  static constexpr std::array kWords = {"auto", "f32", "bf16", "f16"};
  return word(kWords, dtype);
}

const char* weights_word(remora_weights weights) {
  static constexpr std::array kWords = {"dtype", "int8", "int4"};
  return word(kWords, weights);
}

std::string device_word(remora_device_kind device, int32_t index) {
  static constexpr std::array kWords = {"auto", "cpu", "cuda", "mps"};
  const std::string name = word(kWords, device);
  return device == REMORA_DEVICE_CUDA ? name + ":" + std::to_string(index) : name;
}

uint64_t peak_rss_bytes() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

void print_text(const std::string& text) { write_stdout(text.data(), text.size()); }

void print_json(const Json& object) {
  print_text(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

}  // namespace remora::cli

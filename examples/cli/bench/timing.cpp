#include "bench/timing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace remora::cli {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double Samples::median() const {
  if (values_.empty()) return kNone;
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Samples::min() const {
  return values_.empty() ? kNone : *std::min_element(values_.begin(), values_.end());
}

double Samples::max() const {
  return values_.empty() ? kNone : *std::max_element(values_.begin(), values_.end());
}

double Samples::quantile(double q) const {
  if (values_.empty()) return kNone;
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
}

Json Samples::json() const {
  return {{"median", rounded(median())}, {"min", rounded(min())}, {"max", rounded(max())}};
}

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << '5';  // where there is no such file, nothing happens
}

uint64_t peak_memory_since_reset() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) != 0) continue;
    const size_t digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) break;
    uint64_t kilobytes = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return peak_rss_bytes();
}

}  // namespace remora::cli

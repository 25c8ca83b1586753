// Repeated measurements and their spread.
#pragma once

#include <cstdint>
#include <vector>

#include "report.h"

namespace remora::cli {

class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  size_t size() const { return values_.size(); }

  // NaN without a sample, which JSON shows as null.
  double median() const;
  double min() const;
  double max() const;
  // The sample below which the share `q` (0 to 1) of all lies, the nearest one.
  double quantile(double q) const;

  // {"median","min","max"}
  Json json() const;

 private:
  std::vector<double> values_;
};

// The most memory the process had since the last reset, where the system can tell (Linux), else
// since its start; bytes.
void reset_peak_memory();
uint64_t peak_memory_since_reset();

}  // namespace remora::cli

// Intermediate results of a pass, and their comparison with the reference's.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/pass.h"

namespace remora::test {

// Everything an observer heard, parts of one path joined in time.
class Recorder {
 public:
  codec::Observer observer();

  // Compares with every tensor `item`/PATH of tests/data/codec/`file`, except the keys in
  // `not_heard`.
  void expect_reference(const std::string& file, const std::string& item,
                        const std::set<std::string>& not_heard) const;

 private:
  // In the reference's layout: [1, channels, time] for convolutions, [1, time, channels] inside
  // transformers; heads come as [1, heads, time, head_dim] in both.
  at::Tensor get(const std::string& path, const at::Tensor& reference) const;

  std::map<std::string, std::vector<at::Tensor>> heard_;
};

}  // namespace remora::test

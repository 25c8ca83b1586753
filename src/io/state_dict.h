// Named tensors of a checkpoint, described first and read only when asked for.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace remora::io {

// Product of the extents; nothing when one is negative or the product, zero extents left out, is
// 2^56 or more: bytes, strides and sums computed from such a shape still fit 63 bits.
std::optional<uint64_t> element_count(std::span<const int64_t> shape);

// Where one tensor lies in a file. Describing costs nothing; load() brings the numbers.
struct StoredTensor {
  std::shared_ptr<const ByteSource> source;
  uint64_t offset = 0;  // bytes from the start of `source`
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; empty = contiguous

  uint64_t byte_size() const;  // of the storage the tensor spans

  // A view into mapped memory where possible, else an own copy. The view keeps the source alive;
  // when the last tensor that shares it goes, so do its pages: what is read only to be converted
  // takes no memory after that.
  at::Tensor load() const;
};

// Names to stored tensors. Name order is the map's; `first_name` keeps the file's first key:
// whether a .pth file's names carry a prefix is told by that one.
class StateDict {
 public:
  // Throws Error{kFormat} on a name that is already there.
  void insert(std::string name, StoredTensor tensor);
  const StoredTensor* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  size_t size() const { return tensors_.size(); }
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const { return tensors_; }
  const std::string& first_name() const { return first_name_; }

  // Text that a file says about itself beside its tensors; of several files the first one's word
  // stands. Nothing where it is silent.
  void describe(std::string key, std::string value);
  std::optional<std::string_view> description(std::string_view key) const;

  // Files that contributed, for messages: "model.pth" or "model-00001-of-00002.safetensors, ...".
  std::string files() const;

  // A new dict with every name passed through `rename`; an empty result drops the tensor.
  template <typename Rename>
  StateDict renamed(Rename&& rename) const {
    StateDict out;
    out.descriptions_ = descriptions_;
    for (const auto& [name, tensor] : tensors_) {
      if (std::string changed = rename(name); !changed.empty()) out.insert(changed, tensor);
    }
    return out;
  }

 private:
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> descriptions_;
  std::string first_name_;
};

// One .safetensors file into `out`, what its __metadata__ says included. Every field of the header
// is checked against the file's size; throws Error{kFormat} naming file, tensor and reason.
void read_safetensors(std::shared_ptr<const ByteSource> source, StateDict& out);

}  // namespace remora::io

#include "io/state_dict.h"

#include <c10/core/ScalarType.h>

#include <memory>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/kept_tensor.h"
#include "io/pages.h"

namespace remora::io {
namespace {

// A part of a mapped source that a tensor shows.
class MappedBytes {
 public:
  MappedBytes(std::shared_ptr<const ByteSource> source, uint64_t offset, uint64_t length)
      : source_(std::move(source)), offset_(offset), length_(length) {}
  ~MappedBytes() { source_->release_pages(offset_, length_); }
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

 private:
  std::shared_ptr<const ByteSource> source_;
  uint64_t offset_;
  uint64_t length_;
};

}  // namespace

std::optional<uint64_t> element_count(std::span<const int64_t> shape) {
  constexpr uint64_t kLimit = uint64_t{1} << 56;
  uint64_t nonzero = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(nonzero, static_cast<uint64_t>(extent), &nonzero) ||
        nonzero >= kLimit) {
      return std::nullopt;
    }
  }
  return empty ? 0 : nonzero;
}

uint64_t StoredTensor::byte_size() const {
  // Readers have checked that these products fit; a tensor with a zero extent spans nothing.
  uint64_t last = 0;
  uint64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    count *= static_cast<uint64_t>(shape[i]);
    if (!strides.empty()) last += static_cast<uint64_t>((shape[i] - 1) * strides[i]);
  }
  return (strides.empty() ? count : last + 1) * c10::elementSize(dtype);
}

at::Tensor StoredTensor::load() const {
  const uint64_t bytes = byte_size();
  const std::span<const std::byte> view = source->view();
  const std::byte* data = view.empty() || bytes == 0 ? nullptr : view.data() + offset;
  const bool aligned = reinterpret_cast<uintptr_t>(data) % c10::elementSize(dtype) == 0;
  if (data != nullptr && aligned) {
    // The mapping is read-only: nothing in the library writes to a loaded weight.
    auto* blob = const_cast<std::byte*>(data);
    return kept_tensor(blob, shape, strides, dtype,
                       std::make_unique<MappedBytes>(source, offset, bytes));
  }
  const auto elements = static_cast<int64_t>(bytes / c10::elementSize(dtype));
  at::Tensor storage = tensor_of_pages({elements}, dtype);
  if (bytes > 0) {
    source->read_at(offset, {static_cast<std::byte*>(storage.data_ptr()), bytes});
  }
  return strides.empty() ? storage.view(shape) : storage.as_strided(shape, strides);
}

void StateDict::insert(std::string name, StoredTensor tensor) {
  if (tensors_.empty()) first_name_ = name;
  const auto [at, inserted] = tensors_.try_emplace(std::move(name), std::move(tensor));
  if (!inserted) {
    throw Error(Status::kFormat,
                concat(at->second.source->name(), ": tensor ", at->first, " is there twice"));
  }
}

void StateDict::describe(std::string key, std::string value) {
  descriptions_.try_emplace(std::move(key), std::move(value));
}

std::optional<std::string_view> StateDict::description(std::string_view key) const {
  const auto at = descriptions_.find(key);
  if (at == descriptions_.end()) return std::nullopt;
  return at->second;
}

const StoredTensor* StateDict::find(std::string_view name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

std::string StateDict::files() const {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.insert(tensor.source->name());
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace remora::io

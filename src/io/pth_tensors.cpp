#include "io/pth_tensors.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"

namespace remora::io {
namespace {

using Id = PickleTree::Id;
using Kind = PickleTree::Kind;
using Value = PickleTree::Value;

constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils _rebuild_parameter";
constexpr std::array<std::pair<std::string_view, at::ScalarType>, 5> kStorageTypes{{
    {"torch FloatStorage", at::kFloat},
    {"torch BFloat16Storage", at::kBFloat16},
    {"torch HalfStorage", at::kHalf},
    {"torch LongStorage", at::kLong},
    {"torch BoolStorage", at::kBool},
}};
constexpr std::array<std::string_view, 8> kAllowedGlobals{
    "collections OrderedDict", kRebuildTensor,         kRebuildParameter,
    kStorageTypes[0].first,    kStorageTypes[1].first, kStorageTypes[2].first,
    kStorageTypes[3].first,    kStorageTypes[4].first,
};

constexpr size_t kMaxDims = 16;

// Strides of single elements do not count, whatever they say.
bool is_contiguous(const StoredTensor& tensor) {
  if (tensor.byte_size() == 0) return true;
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

}  // namespace

PthTensors::PthTensors(const ZipArchive& archive, const std::string& prefix, const PickleTree& tree)
    : archive_(archive), prefix_(prefix), tree_(tree) {}

std::span<const std::string_view> PthTensors::globals() { return kAllowedGlobals; }

void PthTensors::fail(std::string_view name, std::string_view reason) const {
  throw Error(Status::kFormat,
              concat(archive_.source()->name(), ": tensor ", printable(name), " ", reason));
}

StoredTensor PthTensors::describe(std::string_view name, const Value& call) const {
  const std::string_view callee = tree_[call.items[0]].text;
  const std::vector<Id>& arguments = tree_[call.items[1]].items;
  if (callee == kRebuildParameter) {
    // (tensor, requires_grad, hooks); a parameter of a parameter does not exist.
    const Value* data = arguments.size() >= 2 ? &tree_[arguments[0]] : nullptr;
    if (data == nullptr || data->kind != Kind::kCall ||
        tree_[data->items[0]].text != kRebuildTensor) {
      fail(name, "is a parameter without a tensor");
    }
    return describe(name, *data);
  }
  // (storage, offset, size, stride, requires_grad, hooks[, metadata])
  if (callee != kRebuildTensor || arguments.size() < 4) {
    fail(name, "has no readable description");
  }
  const Storage memory = storage(name, tree_[arguments[0]]);
  const Value& offset = tree_[arguments[1]];
  if (offset.kind != Kind::kInt || offset.number < 0) {
    fail(name, "has no readable storage offset");
  }
  StoredTensor tensor;
  tensor.dtype = memory.dtype;
  tensor.shape = extents(name, tree_[arguments[2]], "size");
  tensor.strides = extents(name, tree_[arguments[3]], "stride");
  if (tensor.shape.size() != tensor.strides.size()) {
    fail(name, "has another number of strides than of sizes");
  }
  check_extent(name, tensor, static_cast<uint64_t>(offset.number), memory.elements);
  tensor.source = archive_.source();
  tensor.offset = memory.offset;
  if (tensor.byte_size() > 0) {
    tensor.offset += static_cast<uint64_t>(offset.number) * c10::elementSize(memory.dtype);
  }
  if (is_contiguous(tensor)) tensor.strides.clear();
  return tensor;
}

std::vector<int64_t> PthTensors::extents(std::string_view name, const Value& tuple,
                                         std::string_view what) const {
  if (tuple.kind != Kind::kTuple || tuple.items.size() > kMaxDims) {
    fail(name, concat("has no readable ", what));
  }
  std::vector<int64_t> out;
  for (const Id id : tuple.items) {
    const Value& extent = tree_[id];
    if (extent.kind != Kind::kInt || extent.number < 0) {
      fail(name, concat("has a negative or unreadable ", what));
    }
    out.push_back(extent.number);
  }
  return out;
}

// ("storage", class, key, device, element count): the device is where it was saved from.
PthTensors::Storage PthTensors::storage(std::string_view name, const Value& persistent) const {
  const Value* id = persistent.kind == Kind::kPersistentId ? &tree_[persistent.items[0]] : nullptr;
  if (id == nullptr || id->kind != Kind::kTuple || id->items.size() != 5 ||
      tree_[id->items[0]].text != "storage" || tree_[id->items[1]].kind != Kind::kGlobal ||
      tree_[id->items[2]].kind != Kind::kString || tree_[id->items[4]].kind != Kind::kInt) {
    fail(name, "has no readable storage");
  }
  Storage memory;
  const std::string_view type = tree_[id->items[1]].text;
  const auto known = std::find_if(kStorageTypes.begin(), kStorageTypes.end(),
                                  [&](const auto& entry) { return entry.first == type; });
  if (known == kStorageTypes.end()) fail(name, "has a storage of no known type");
  memory.dtype = known->second;

  const std::string_view key = tree_[id->items[2]].text;
  const ZipMember* member = archive_.find(concat(prefix_, "data/", key));
  if (member == nullptr) {
    fail(name, concat("lies in storage ", printable(key), ", which the archive lacks"));
  }
  const int64_t elements = tree_[id->items[4]].number;
  memory.offset = member->offset;
  memory.elements = member->size / c10::elementSize(memory.dtype);
  if (elements < 0 || static_cast<uint64_t>(elements) > memory.elements) {
    fail(name, concat("lies in a storage of ", elements, " elements, but the file holds ",
                      memory.elements));
  }
  memory.elements = static_cast<uint64_t>(elements);
  return memory;
}

// The last element a tensor reaches must lie in its storage, and it may not claim more elements
// than that holds: a huge tensor of one repeated number would pass the first test alone.
void PthTensors::check_extent(std::string_view name, const StoredTensor& tensor, uint64_t offset,
                              uint64_t elements) const {
  const std::optional<uint64_t> count = element_count(tensor.shape);
  uint64_t last = offset;
  bool fits = count.has_value();
  for (size_t i = 0; i < tensor.shape.size() && fits && *count > 0; ++i) {
    const auto steps = static_cast<uint64_t>(tensor.shape[i] - 1);
    uint64_t reach = 0;
    fits = !__builtin_mul_overflow(steps, static_cast<uint64_t>(tensor.strides[i]), &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || (*count > 0 && (last >= elements || *count > elements))) {
    fail(name,
         concat("of shape ", shape_text(tensor.shape), ", strides ", shape_text(tensor.strides),
                " at ", offset, " does not fit its storage of ", elements, " elements"));
  }
}

}  // namespace remora::io

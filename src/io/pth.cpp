#include "io/pth.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_kind.h"
#include "io/pickle.h"
#include "io/quote.h"
#include "io/zip_archive.h"

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

constexpr uint64_t kMaxPickle = 16u << 20;  // a tensor takes about 200 bytes of it
constexpr size_t kMaxDims = 16;
constexpr int kMaxDepth = 16;
// Shared values may be met many times: the entries visited and the bytes of the names made from
// them stay proportional to the pickle.
constexpr uint64_t kStepsPerPickleByte = 16;

struct Storage {
  at::ScalarType dtype = at::kFloat;
  uint64_t offset = 0;    // bytes from the start of the file
  uint64_t elements = 0;  // that the file holds for it
};

class PthReader {
 public:
  explicit PthReader(std::shared_ptr<const ByteSource> source)
      : archive_(std::move(source)), prefix_(find_prefix()), tree_(read_tree()) {}

  StateDict read() {
    const Value* top = &tree_.root();
    if (top->kind != Kind::kDict) fail("the top value is no mapping of names to tensors");
    for (size_t i = 0; i < top->items.size(); i += 2) {
      const Value& value = tree_[top->items[i + 1]];
      if (tree_[top->items[i]].text == "state_dict" && value.kind == Kind::kDict) {
        top = &value;
        break;
      }
    }
    StateDict out;
    add_mapping(*top, "", 0, out);
    if (out.size() == 0) fail("it holds no tensors");
    return out;
  }

 private:
  const ByteSource& source() const { return *archive_.source(); }
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(Status::kFormat, concat(source().name(), ": ", reason));
  }
  [[noreturn]] void fail_tensor(std::string_view name, std::string_view reason) const {
    fail(concat("tensor ", printable(name), " ", reason));
  }

  // Every member lies in one folder, whose name is that of the file when it was saved.
  std::string find_prefix() const {
    static constexpr std::string_view kPickleName = "data.pkl";
    std::optional<std::string> prefix;
    for (const ZipMember& member : archive_.members()) {
      const std::string_view name = member.name;
      const size_t slash = name.find('/');
      if (slash == std::string_view::npos || name.substr(slash + 1) != kPickleName) continue;
      if (prefix) fail("the archive holds more than one data.pkl");
      prefix = name.substr(0, slash + 1);
    }
    if (!prefix) fail("a zip archive, but not one of PyTorch: it holds no data.pkl");
    return *prefix;
  }

  std::string read_member(const std::string& name, uint64_t max_bytes) const {
    const ZipMember* member = archive_.find(name);
    if (member == nullptr) return {};
    if (member->size > max_bytes) {
      fail(concat("archive member ", printable(name), " is ", member->size, " bytes, at most ",
                  max_bytes, " are read"));
    }
    std::string text(static_cast<size_t>(member->size), '\0');
    source().read_at(member->offset, std::as_writable_bytes(std::span(text)));
    return text;
  }

  PickleTree read_tree() const {
    const std::string order = read_member(prefix_ + "byteorder", 64);
    if (!order.empty() && order != "little") {
      fail(concat("its byte order is '", printable(order), "', only little is read"));
    }
    const std::string text = read_member(prefix_ + "data.pkl", kMaxPickle);
    return read_pickle({text.begin(), text.end()}, source().name(), kAllowedGlobals);
  }

  void add_mapping(const Value& mapping, const std::string& prefix, int depth, StateDict& out) {
    if (depth > kMaxDepth) fail(concat("mappings are nested deeper than ", kMaxDepth));
    for (size_t i = 0; i < mapping.items.size(); i += 2) {
      const Value& key = tree_[mapping.items[i]];
      const Value& value = tree_[mapping.items[i + 1]];
      spend(1);
      if (value.kind != Kind::kDict && value.kind != Kind::kCall) continue;
      std::string name = prefix;
      if (key.kind == Kind::kString) {
        name += key.text;
      } else if (key.kind == Kind::kInt) {
        name += concat(key.number);
      } else {
        continue;
      }
      spend(name.size());
      if (value.kind == Kind::kDict) {
        add_mapping(value, name + ".", depth + 1, out);
      } else {
        StoredTensor tensor = rebuild(name, value);
        out.insert(std::move(name), std::move(tensor));
      }
    }
  }

  void spend(uint64_t steps) {
    steps_ += steps;
    if (steps_ > kStepsPerPickleByte * tree_.byte_size()) {
      fail("its mappings, shared many times, are out of proportion to the file");
    }
  }

  // The description behind a call of one of the two rebuild functions.
  StoredTensor rebuild(std::string_view name, const Value& call) const {
    const std::string_view callee = tree_[call.items[0]].text;
    const std::vector<Id>& arguments = tree_[call.items[1]].items;
    if (callee == kRebuildParameter) {
      // (tensor, requires_grad, hooks); a parameter of a parameter does not exist.
      const Value* data = arguments.size() >= 2 ? &tree_[arguments[0]] : nullptr;
      if (data == nullptr || data->kind != Kind::kCall ||
          tree_[data->items[0]].text != kRebuildTensor) {
        fail_tensor(name, "is a parameter without a tensor");
      }
      return rebuild(name, *data);
    }
    // (storage, offset, size, stride, requires_grad, hooks[, metadata])
    if (callee != kRebuildTensor || arguments.size() < 4) {
      fail_tensor(name, "has no readable description");
    }
    const Storage storage = find_storage(name, tree_[arguments[0]]);
    const Value& offset = tree_[arguments[1]];
    if (offset.kind != Kind::kInt || offset.number < 0) {
      fail_tensor(name, "has no readable storage offset");
    }
    StoredTensor tensor;
    tensor.dtype = storage.dtype;
    tensor.shape = read_extents(name, tree_[arguments[2]], "size");
    tensor.strides = read_extents(name, tree_[arguments[3]], "stride");
    if (tensor.shape.size() != tensor.strides.size()) {
      fail_tensor(name, "has another number of strides than of sizes");
    }
    check_extent(name, tensor, static_cast<uint64_t>(offset.number), storage.elements);
    tensor.source = archive_.source();
    tensor.offset =
        storage.offset + static_cast<uint64_t>(offset.number) * c10::elementSize(storage.dtype);
    if (is_contiguous(tensor)) tensor.strides.clear();
    return tensor;
  }

  std::vector<int64_t> read_extents(std::string_view name, const Value& tuple,
                                    std::string_view what) const {
    if (tuple.kind != Kind::kTuple || tuple.items.size() > kMaxDims) {
      fail_tensor(name, concat("has no readable ", what));
    }
    std::vector<int64_t> extents;
    for (const Id id : tuple.items) {
      const Value& extent = tree_[id];
      if (extent.kind != Kind::kInt || extent.number < 0) {
        fail_tensor(name, concat("has a negative or unreadable ", what));
      }
      extents.push_back(extent.number);
    }
    return extents;
  }

  // ("storage", class, key, device, element count): the device is where it was saved from.
  Storage find_storage(std::string_view name, const Value& persistent) const {
    const Value* id =
        persistent.kind == Kind::kPersistentId ? &tree_[persistent.items[0]] : nullptr;
    if (id == nullptr || id->kind != Kind::kTuple || id->items.size() != 5 ||
        tree_[id->items[0]].text != "storage" || tree_[id->items[1]].kind != Kind::kGlobal ||
        tree_[id->items[2]].kind != Kind::kString || tree_[id->items[4]].kind != Kind::kInt) {
      fail_tensor(name, "has no readable storage");
    }
    Storage storage;
    const std::string_view type = tree_[id->items[1]].text;
    const auto known = std::find_if(kStorageTypes.begin(), kStorageTypes.end(),
                                    [&](const auto& entry) { return entry.first == type; });
    if (known == kStorageTypes.end()) fail_tensor(name, "has a storage of no known type");
    storage.dtype = known->second;

    const std::string_view key = tree_[id->items[2]].text;
    const ZipMember* member = archive_.find(concat(prefix_, "data/", key));
    if (member == nullptr) {
      fail_tensor(name, concat("lies in storage ", printable(key), ", which the archive lacks"));
    }
    const int64_t elements = tree_[id->items[4]].number;
    storage.offset = member->offset;
    storage.elements = member->size / c10::elementSize(storage.dtype);
    if (elements < 0 || static_cast<uint64_t>(elements) > storage.elements) {
      fail_tensor(name, concat("lies in a storage of ", elements,
                               " elements, of which the file "
                               "holds ",
                               storage.elements));
    }
    storage.elements = static_cast<uint64_t>(elements);
    return storage;
  }

  // The last element a tensor reaches must lie in its storage, and it may not claim more elements
  // than that holds: a huge tensor of one repeated number would pass the first test alone.
  void check_extent(std::string_view name, const StoredTensor& tensor, uint64_t offset,
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
      fail_tensor(name, concat("of shape ", shape_text(tensor.shape), ", strides ",
                               shape_text(tensor.strides), " at ", offset,
                               " does not fit its storage of ", elements, " elements"));
    }
  }

  static bool is_contiguous(const StoredTensor& tensor) {
    if (tensor.byte_size() == 0) return true;
    int64_t expected = 1;
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
      expected *= tensor.shape[i];
    }
    return true;
  }

  ZipArchive archive_;
  std::string prefix_;
  PickleTree tree_;
  uint64_t steps_ = 0;
};

}  // namespace

StateDict read_pth(std::shared_ptr<const ByteSource> source) {
  const FileKind kind = file_kind(*source);
  if (kind == FileKind::kPickle) {
    throw Error(Status::kFormat,
                concat(source->name(),
                       ": PyTorch's old file form (before 1.6) is not read; load it in Python and "
                       "torch.save it again"));
  }
  if (kind != FileKind::kZip) {
    throw Error(Status::kFormat,
                concat(source->name(), ": not a PyTorch archive", file_kind_hint(kind)));
  }
  return PthReader(std::move(source)).read();
}

}  // namespace remora::io

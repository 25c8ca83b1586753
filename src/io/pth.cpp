#include "io/pth.h"

#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_kind.h"
#include "io/pickle.h"
#include "io/pth_tensors.h"
#include "io/quote.h"
#include "io/zip_archive.h"

namespace remora::io {
namespace {

using Kind = PickleTree::Kind;
using Value = PickleTree::Value;

constexpr uint64_t kMaxPickle = 16u << 20;  // a tensor takes about 200 bytes of it
constexpr int kMaxDepth = 16;
// Shared values may be met many times: the entries visited and the bytes of the names made from
// them stay proportional to the pickle.
constexpr uint64_t kStepsPerPickleByte = 16;

class PthReader {
 public:
  explicit PthReader(std::shared_ptr<const ByteSource> source)
      : archive_(std::move(source)),
        prefix_(find_prefix()),
        tree_(read_tree()),
        tensors_(archive_, prefix_, tree_) {}

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
    return read_pickle({text.begin(), text.end()}, source().name(), PthTensors::globals());
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
        StoredTensor tensor = tensors_.describe(name, value);
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

  ZipArchive archive_;
  std::string prefix_;
  PickleTree tree_;
  PthTensors tensors_;
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

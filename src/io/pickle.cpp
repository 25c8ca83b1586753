#include "io/pickle.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/pickle_opcodes.h"
#include "io/quote.h"

namespace remora::io {
namespace {

using Op = PickleOp;

constexpr uint8_t kOldestProtocol = 2;
constexpr uint8_t kNewestProtocol = 4;

}  // namespace

// The pickle machine: a stack of values, marks on it, and a memo of values to use again. Each
// opcode makes at most one value, so memory follows the length of the pickle.
class Unpickler {
 public:
  using Id = PickleTree::Id;
  using Kind = PickleTree::Kind;

  Unpickler(std::vector<char> bytes, const std::string& where,
            std::span<const std::string_view> allowed)
      : where_(where), allowed_(allowed) {
    tree_.bytes_ = std::move(bytes);
  }

  PickleTree run() {
    if (static_cast<Op>(byte()) != Op::kProto) fail("it does not start as a pickle of protocol 2");
    check_protocol();
    while (true) {
      op_at_ = at_;
      const uint8_t code = byte();
      const auto op = static_cast<Op>(code);
      if (op == Op::kStop) break;
      if (!plain_value(op) && !memo(op) && !container(op) && !object(op)) {
        fail(concat("opcode ", static_cast<int>(code), " is not read"));
      }
    }
    if (!marks_.empty() || stack_.size() != 1) fail("it ends with an unfinished value");
    tree_.root_ = stack_.front();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(Status::kFormat, concat(where_, ": pickle byte ", op_at_, ": ", reason));
  }

  std::string_view take(uint64_t length) {
    if (length > tree_.bytes_.size() - at_) fail("it ends in the middle of a value");
    const std::string_view text(tree_.bytes_.data() + at_, static_cast<size_t>(length));
    at_ += static_cast<size_t>(length);
    return text;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1).front()); }
  uint64_t little(size_t width) {
    const std::string_view raw = take(width);
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
    return value;
  }
  std::string_view line() {
    const auto begin = tree_.bytes_.begin() + static_cast<ptrdiff_t>(at_);
    const auto end = std::find(begin, tree_.bytes_.end(), '\n');
    if (end == tree_.bytes_.end()) fail("it ends in the middle of a name");
    const std::string_view text = take(static_cast<uint64_t>(end - begin));
    take(1);
    return text;
  }
  void check_protocol() {
    const uint8_t protocol = byte();
    if (protocol < kOldestProtocol || protocol > kNewestProtocol) {
      fail(concat("pickle protocol ", static_cast<int>(protocol), " is not read"));
    }
  }

  bool push(PickleTree::Value value) {
    tree_.values_.push_back(std::move(value));
    stack_.push_back(static_cast<Id>(tree_.values_.size() - 1));
    return true;
  }
  bool push_int(int64_t number) { return push({Kind::kInt, number, {}, {}}); }
  bool push_items(Kind kind, std::vector<Id> items) {
    return push({kind, 0, {}, std::move(items)});
  }

  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  Id pop() {
    const Id id = top();
    stack_.pop_back();
    return id;
  }
  Id top() const {
    if (above_mark() == 0) fail("a value is taken that is not there");
    return stack_.back();
  }
  // The values above the last mark, which goes too.
  std::vector<Id> pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    std::vector<Id> items(stack_.begin() + static_cast<ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  PickleTree::Value& container_on_top(Kind kind) {
    PickleTree::Value& value = tree_.values_[top()];
    if (value.kind != kind) fail("items are added to something that is no container for them");
    return value;
  }

  bool plain_value(Op op) {
    switch (op) {
      case Op::kNone:
        return push({});
      case Op::kNewTrue:
        return push({Kind::kBool, 1, {}, {}});
      case Op::kNewFalse:
        return push({Kind::kBool, 0, {}, {}});
      case Op::kBinInt1:
        return push_int(static_cast<int64_t>(little(1)));
      case Op::kBinInt2:
        return push_int(static_cast<int64_t>(little(2)));
      case Op::kBinInt:
        return push_int(std::bit_cast<int32_t>(static_cast<uint32_t>(little(4))));
      case Op::kLong1:
        return push_long(take(byte()));
      case Op::kBinFloat:
        take(8);
        return push({Kind::kOtherNumber, 0, {}, {}});
      case Op::kBinUnicode:
        return push({Kind::kString, 0, take(little(4)), {}});
      case Op::kShortBinUnicode:
        return push({Kind::kString, 0, take(little(1)), {}});
      default:
        return false;
    }
  }

  // Two's complement, little-endian, of any length; no bytes at all are 0.
  bool push_long(std::string_view raw) {
    if (raw.size() > 8) return push({Kind::kOtherNumber, 0, {}, {}});
    uint64_t value = !raw.empty() && static_cast<uint8_t>(raw.back()) >= 0x80 ? ~uint64_t{0} : 0;
    for (size_t i = raw.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
    return push_int(std::bit_cast<int64_t>(value));
  }

  bool memo(Op op) {
    switch (op) {
      case Op::kBinPut:
        return put(little(1));
      case Op::kLongBinPut:
        return put(little(4));
      case Op::kMemoize:
        return put(memo_.size());
      case Op::kBinGet:
        return get(little(1));
      case Op::kLongBinGet:
        return get(little(4));
      default:
        return false;
    }
  }
  bool put(uint64_t index) {
    memo_[index] = top();
    return true;
  }
  bool get(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail(concat("memo entry ", index, " was never stored"));
    stack_.push_back(found->second);
    return true;
  }

  bool container(Op op) {
    switch (op) {
      case Op::kMark:
        marks_.push_back(stack_.size());
        return true;
      case Op::kEmptyTuple:
        return push_items(Kind::kTuple, {});
      case Op::kEmptyList:
        return push_items(Kind::kList, {});
      case Op::kEmptyDict:
        return push_items(Kind::kDict, {});
      case Op::kTuple:
        return push_items(Kind::kTuple, pop_to_mark());
      case Op::kTuple1:
        return push_tuple(1);
      case Op::kTuple2:
        return push_tuple(2);
      case Op::kTuple3:
        return push_tuple(3);
      case Op::kAppend:
        return add_items(Kind::kList, pop_last(1));
      case Op::kAppends:
        return add_items(Kind::kList, pop_to_mark());
      case Op::kSetItem:
        return add_items(Kind::kDict, pop_last(2));
      case Op::kSetItems:
        return add_items(Kind::kDict, pop_to_mark());
      default:
        return false;
    }
  }
  std::vector<Id> pop_last(size_t count) {
    if (above_mark() < count) fail("a value is taken that is not there");
    std::vector<Id> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  bool push_tuple(size_t count) { return push_items(Kind::kTuple, pop_last(count)); }
  bool add_items(Kind kind, const std::vector<Id>& items) {
    if (kind == Kind::kDict && items.size() % 2 != 0) fail("a key has no value");
    std::vector<Id>& target = container_on_top(kind).items;
    target.insert(target.end(), items.begin(), items.end());
    return true;
  }

  bool object(Op op) {
    switch (op) {
      case Op::kProto:
        check_protocol();
        return true;
      case Op::kFrame:
        if (little(8) > tree_.bytes_.size() - at_) fail("a frame is longer than the pickle");
        return true;
      case Op::kGlobal:
        return push_global();
      case Op::kBinPersistentId:
        return push_items(Kind::kPersistentId, {pop()});
      case Op::kReduce:
        return reduce();
      case Op::kBuild:
        return build();
      default:
        return false;
    }
  }

  bool push_global() {
    const size_t begin = at_;
    const std::string_view module = line();
    const std::string_view name = line();
    // The two lines stand next to each other: with the line feed made a blank they are one text.
    tree_.bytes_[begin + module.size()] = ' ';
    const std::string_view whole(module.data(), module.size() + 1 + name.size());
    if (std::find(allowed_.begin(), allowed_.end(), whole) == allowed_.end()) {
      fail(concat("it names ", printable(concat(module, ".", name)),
                  ", which no plain weight file needs: refused, nothing was run"));
    }
    return push({Kind::kGlobal, 0, whole, {}});
  }

  bool reduce() {
    const Id arguments = pop();
    const Id callee = pop();
    if (tree_.values_[callee].kind != Kind::kGlobal ||
        tree_.values_[arguments].kind != Kind::kTuple) {
      fail("a call of something that cannot be called");
    }
    if (tree_.values_[callee].text != "collections OrderedDict") {
      return push_items(Kind::kCall, {callee, arguments});
    }
    if (!tree_.values_[arguments].items.empty()) fail("an OrderedDict made from arguments");
    return push_items(Kind::kDict, {});
  }

  // The attributes of an OrderedDict, in practice `_metadata`: version numbers of modules.
  bool build() {
    pop();
    container_on_top(Kind::kDict);
    return true;
  }

  const std::string& where_;
  std::span<const std::string_view> allowed_;
  PickleTree tree_;
  size_t at_ = 0;
  size_t op_at_ = 0;
  std::vector<Id> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Id> memo_;
};

PickleTree read_pickle(std::vector<char> bytes, const std::string& where,
                       std::span<const std::string_view> allowed_globals) {
  return Unpickler(std::move(bytes), where, allowed_globals).run();
}

}  // namespace remora::io

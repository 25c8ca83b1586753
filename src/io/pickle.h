// A Python pickle read as data: it becomes a tree of values, and nothing in it is ever executed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remora::io {

// Values refer to each other by index: a value may be shared, and a container may even hold
// itself, so whoever walks the tree bounds depth and count.
class PickleTree {
 public:
  using Id = uint32_t;
  enum class Kind : uint8_t {
    kNone,
    kBool,          // number: 0 or 1
    kInt,           // number
    kOtherNumber,   // a float, or an integer beyond 64 bits: its value is not kept
    kString,        // text
    kGlobal,        // text: "module name", one of the allowed ones
    kTuple,         // items
    kList,          // items
    kDict,          // items: key, value, key, value, ... in the order of the file
    kPersistentId,  // items: the id's one value
    kCall,          // items: the global, its argument tuple; a call that was NOT made
  };
  struct Value {
    Kind kind = Kind::kNone;
    int64_t number = 0;
    std::string_view text;  // into the pickle's bytes
    std::vector<Id> items;
  };

  const Value& root() const { return values_[root_]; }
  const Value& operator[](Id id) const { return values_[id]; }
  // Bytes of the pickle: the measure for what a walk over a shared structure may cost.
  size_t byte_size() const { return bytes_.size(); }

 private:
  friend class Unpickler;
  std::vector<char> bytes_;
  std::vector<Value> values_;
  Id root_ = 0;
};

// Reads pickle protocols 2 to 4 as far as PyTorch state dicts use them. `allowed_globals` are the
// only names ("module name", blank between) that may occur; "collections OrderedDict", if allowed,
// is the one call that is answered (by an empty dict). Memory stays proportional to the bytes.
// Throws Error{kFormat}: `where`, the byte and the reason, for any other opcode or name, a wrong
// stack, a memo index never stored, or an early end.
PickleTree read_pickle(std::vector<char> bytes, const std::string& where,
                       std::span<const std::string_view> allowed_globals);

}  // namespace remora::io

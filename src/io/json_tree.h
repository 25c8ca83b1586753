// A tree of JSON values built piece by piece, whose end needs no memory.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace remora::io {

// nlohmann's destructor asks for memory to take a tree apart, and a destructor that gets none ends
// the process. This one empties every container first, the inner ones before the outer ones; then
// there is nothing to ask for. Hence trees are built here and stay here, also half built ones.
class JsonTree {
 public:
  JsonTree() = default;
  JsonTree(JsonTree&&) noexcept = default;
  JsonTree& operator=(JsonTree&&) = delete;
  ~JsonTree();

  const nlohmann::json& root() const { return root_; }

  // Building, as a parser walks the text: the key of the next value where an object is open.
  void key(std::string name) { key_ = std::move(name); }
  const std::string& key() const { return key_; }
  // A value without inner ones.
  void put(nlohmann::json scalar) { place(std::move(scalar)); }
  // An empty object or array, into which the following values go until close().
  void open(nlohmann::json container) { open_.push_back(place(std::move(container))); }
  void close() { open_.pop_back(); }
  // Open containers.
  size_t depth() const { return open_.size(); }
  bool in_object() const { return !open_.empty() && open_.back()->is_object(); }

 private:
  nlohmann::json* place(nlohmann::json value);

  nlohmann::json root_;
  std::vector<nlohmann::json*> open_;  // outermost first; they stay where they are while open
  std::string key_;
};

}  // namespace remora::io

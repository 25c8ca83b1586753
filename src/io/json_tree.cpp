#include "io/json_tree.h"

#include <utility>

namespace remora::io {
namespace {

// Recursion is as deep as the tree, which its readers bound.
void empty(nlohmann::json& value) {
  if (!value.is_structured()) return;
  for (nlohmann::json& child : value) empty(child);
  value.clear();
}

}  // namespace

JsonTree::~JsonTree() { empty(root_); }

nlohmann::json* JsonTree::place(nlohmann::json value) {
  if (open_.empty()) return &(root_ = std::move(value));
  nlohmann::json& parent = *open_.back();
  if (parent.is_array()) {
    parent.push_back(std::move(value));
    return &parent.back();
  }
  return &(parent[key_] = std::move(value));
}

}  // namespace remora::io

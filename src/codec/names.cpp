#include "codec/names.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace remora::codec {
namespace {

constexpr std::string_view kNested = "state_dict.";
constexpr std::string_view kGenerator = "generator.";
constexpr std::string_view kParallel = "module.";

template <typename Predicate>
bool any_name(const io::StateDict& dict, Predicate predicate) {
  return std::any_of(dict.tensors().begin(), dict.tensors().end(),
                     [&](const auto& entry) { return predicate(std::string_view(entry.first)); });
}

std::string without_prefix(std::string name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string without_every(std::string name, std::string_view part) {
  for (size_t at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
    name.erase(at, part.size());
  }
  return name;
}

bool is_stale(std::string_view name) {
  return name.ends_with(".freqs_cis") || name.ends_with(".causal_mask");
}

}  // namespace

io::StateDict plain_names(const io::StateDict& dict) {
  const bool nested = any_name(dict, [](auto name) { return name.starts_with(kNested); });
  // Decided on what counts after the first rule.
  const bool generator = any_name(dict, [&](auto name) {
    return (!nested || name.starts_with(kNested)) && name.find("generator") != name.npos;
  });
  return dict.renamed([&](const std::string& stored) {
    if (nested && !stored.starts_with(kNested)) return std::string();
    std::string name = nested ? without_prefix(stored, kNested) : stored;
    if (generator) {
      if (name.find(kGenerator) == std::string::npos) return std::string();
      name = without_every(std::move(name), kGenerator);
    }
    name = without_prefix(std::move(name), kParallel);
    return is_stale(name) ? std::string() : name;
  });
}

}  // namespace remora::codec

// concat(...): strings and numbers joined without the host's locale.
#pragma once

#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace remora {
namespace detail {

inline void append(std::string& out, std::string_view text) { out.append(text); }
inline void append(std::string& out, char c) { out.push_back(c); }
// A template, so that a string literal does not decay into it.
template <std::same_as<bool> T>
void append(std::string& out, T value) {
  out.append(value ? "true" : "false");
}

template <typename T>
requires((std::integral<T> || std::floating_point<T>)&&!std::same_as<T, char> &&
         !std::same_as<T, bool>) void append(std::string& out, T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, static_cast<size_t>(end - buffer));
}

}  // namespace detail

// std::ostringstream would follow the process's global locale (digit grouping); this does not.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

// "[64,60]": a tensor shape as error messages print it.
inline std::string shape_text(std::span<const int64_t> shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out.push_back(',');
    detail::append(out, shape[i]);
  }
  out.push_back(']');
  return out;
}

}  // namespace remora

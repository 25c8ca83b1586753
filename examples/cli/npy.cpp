#include "npy.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "failure.h"
#include "files.h"

namespace remora::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxElements = uint64_t{1} << 31;  // far more than any recording has

struct Header {
  char kind = 0;  // 'i' or 'u'
  size_t item_size = 0;
  bool big_endian = false;
  bool fortran_order = false;
  uint64_t rows = 0;
  uint64_t columns = 0;
};

class Parser {
 public:
  Parser(std::span<const unsigned char> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  IntMatrix parse() {
    const std::string_view text = header_text();
    read_header(text);
    check_size();
    return values();
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Failure(kError, name_ + ": " + reason);
  }

  // Finds the header's dictionary and sets data_.
  std::string_view header_text() {
    const auto* chars = reinterpret_cast<const char*>(bytes_.data());
    const std::string_view all(chars, bytes_.size());
    if (!all.starts_with(kMagic) || bytes_.size() < 10) {
      fail("is not a .npy file (its first bytes are not NumPy's); save codes with numpy.save");
    }
    const int major = bytes_[6];
    if (major < 1 || major > 3) fail("has .npy version " + std::to_string(major) + ", not 1 to 3");
    const size_t length_bytes = major == 1 ? 2 : 4;
    const size_t start = 8 + length_bytes;
    if (bytes_.size() < start) fail("is cut inside its header; copy it again");
    uint64_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length |= uint64_t{bytes_[8 + i]} << (8 * i);
    if (length > bytes_.size() - start) fail("is cut inside its header; copy it again");
    data_ = start + length;
    return all.substr(start, length);
  }

  // What stands behind "'key':" in the dictionary, without leading blanks.
  std::string_view value_of(std::string_view header, std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string quoted = quote + std::string(key) + quote;
      const size_t at = header.find(quoted);
      if (at == std::string_view::npos) continue;
      std::string_view rest = header.substr(at + quoted.size());
      const auto skip = [&rest] {
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      };
      skip();
      if (!rest.starts_with(':')) break;
      rest.remove_prefix(1);
      skip();
      return rest;
    }
    fail("has no '" + std::string(key) + "' in its header; save it again with numpy.save");
  }

  void read_header(std::string_view text) {
    read_type(value_of(text, "descr"));
    const std::string_view order = value_of(text, "fortran_order");
    header_.fortran_order = order.starts_with("True");
    if (!header_.fortran_order && !order.starts_with("False")) {
      fail("has a header whose fortran_order is neither True nor False");
    }
    read_shape(value_of(text, "shape"));
  }

  void read_type(std::string_view value) {
    const size_t close = value.size() < 2 ? std::string_view::npos : value.find(value[0], 1);
    const std::string_view type =
        close == std::string_view::npos ? value : value.substr(1, close - 1);  // such as <i4
    const bool is_integer = type.size() == 3 && std::strchr("<>|=", type[0]) != nullptr &&
                            (type[1] == 'i' || type[1] == 'u') &&
                            std::strchr("1248", type[2]) != nullptr;
    if (!is_integer) {
      fail("holds numbers of type '" + std::string(type.substr(0, 20)) +
           "', not integers; save it with .astype(numpy.int32)");
    }
    header_.kind = type[1];
    header_.item_size = static_cast<size_t>(type[2] - '0');
    header_.big_endian =
        type[0] == '>' || (type[0] == '=' && std::endian::native == std::endian::big);
  }

  void read_shape(std::string_view value) {
    std::vector<uint64_t> sizes;
    size_t at = 1;
    if (!value.starts_with('(')) fail("has a header whose shape is no tuple");
    while (at < value.size() && value[at] != ')') {
      if (value[at] == ' ' || value[at] == ',') {
        ++at;
        continue;
      }
      uint64_t size = 0;
      const auto [end, error] =
          std::from_chars(value.data() + at, value.data() + value.size(), size);
      if (error != std::errc() || sizes.size() > 8) fail("has a header whose shape is unreadable");
      sizes.push_back(size);
      at = static_cast<size_t>(end - value.data());
    }
    if (at >= value.size()) fail("has a header whose shape is unreadable");
    if (sizes.size() != 2) {
      fail("has " + std::to_string(sizes.size()) +
           " dimensions, expected 2: [codebooks, frames]; reshape it");
    }
    header_.rows = sizes[0];
    header_.columns = sizes[1];
  }

  void check_size() const {
    if (header_.rows == 0 || header_.columns == 0) fail("holds no codes (one of its sizes is 0)");
    if (header_.rows > kMaxElements / header_.columns) {
      fail("claims " + std::to_string(header_.rows) + " x " + std::to_string(header_.columns) +
           " numbers, more than can be codes");
    }
    const uint64_t needed = header_.rows * header_.columns * header_.item_size;
    const uint64_t present = bytes_.size() - data_;
    if (present < needed) {
      fail("is cut: its header promises " + std::to_string(needed) + " bytes of codes, " +
           std::to_string(present) + " are there; copy it again");
    }
  }

  // Element `index` in file order, or nothing when it does not fit into 32 bits.
  std::optional<int32_t> element(uint64_t index) const {
    const size_t size = header_.item_size;
    const unsigned char* bytes = bytes_.data() + data_ + index * size;
    uint64_t raw = 0;
    for (size_t i = 0; i < size; ++i) {
      raw |= uint64_t{bytes[header_.big_endian ? size - 1 - i : i]} << (8 * i);
    }
    const auto shift = static_cast<int>(64 - 8 * size);
    const bool is_signed = header_.kind == 'i';
    if (!is_signed && raw > std::numeric_limits<int32_t>::max()) return std::nullopt;
    const int64_t value =
        is_signed ? static_cast<int64_t>(raw << shift) >> shift : static_cast<int64_t>(raw);
    if (value != static_cast<int32_t>(value)) return std::nullopt;
    return static_cast<int32_t>(value);
  }

  IntMatrix values() const {
    IntMatrix matrix{static_cast<int64_t>(header_.rows), static_cast<int64_t>(header_.columns), {}};
    matrix.values.reserve(header_.rows * header_.columns);
    for (uint64_t row = 0; row < header_.rows; ++row) {
      for (uint64_t column = 0; column < header_.columns; ++column) {
        const uint64_t index =
            header_.fortran_order ? column * header_.rows + row : row * header_.columns + column;
        const std::optional<int32_t> value = element(index);
        if (!value) {
          fail("row " + std::to_string(row) + ", column " + std::to_string(column) +
               " does not fit into 32 bits, so it is no code");
        }
        matrix.values.push_back(*value);
      }
    }
    return matrix;
  }

  std::span<const unsigned char> bytes_;
  const std::string& name_;
  Header header_;
  size_t data_ = 0;  // offset of the first number
};

}  // namespace

IntMatrix parse_npy(std::span<const unsigned char> bytes, const std::string& name) {
  return Parser(bytes, name).parse();
}

IntMatrix read_npy(const std::string& path) {
  const std::string bytes = read_file(path, kMaxElements);
  return parse_npy({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, path);
}

void write_npy(const std::string& path, const IntMatrix& matrix) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                       std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns) + "), }";
  const size_t unpadded = 10 + header.size() + 1;  // magic, version, length, header, newline
  header.append((64 - unpadded % 64) % 64, ' ');
  header.push_back('\n');

  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
            static_cast<char>(header.size() >> 8)};
  bytes += header;
  for (const int32_t value : matrix.values) {
    const auto raw = static_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(raw >> shift));
  }
  write_file(path, bytes);
}

}  // namespace remora::cli

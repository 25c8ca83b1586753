// Integer matrices in NumPy's .npy format: how codes travel between programs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remora::cli {

// Row-major.
struct IntMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int32_t> values;  // [rows, columns]
};

// Reads a two-dimensional array of any integer type and byte order, in C or Fortran order. Throws
// Failure naming the file and what is wrong with it: not .npy, another type or dimension, a header
// that does not fit the file, a number outside 32 bits.
IntMatrix read_npy(const std::string& path);

// The same from bytes; `name` is how messages call them.
IntMatrix parse_npy(std::span<const unsigned char> bytes, const std::string& name);

// Version 1.0, int32, little-endian, C order. Throws Failure when the file cannot be written.
void write_npy(const std::string& path, const IntMatrix& matrix);

}  // namespace remora::cli

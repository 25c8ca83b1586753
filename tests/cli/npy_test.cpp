#include "npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "failure.h"

namespace remora::cli {
namespace {

IntMatrix parse(const std::string& bytes) {
  return parse_npy({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, "c.npy");
}

// The dictionary padded as NumPy does, then `data`.
std::string npy(const std::string& dictionary, const std::string& data) {
  std::string header = dictionary;
  header.resize(117, ' ');
  header.push_back('\n');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(header.size()));
  bytes.push_back('\0');
  return bytes + header + data;
}

std::string small() {
  return npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }", "\1\2\3\4\5\6");
}

TEST(Npy, ReadsRowsAndColumns) {
  const IntMatrix matrix = parse(small());
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 3);
  EXPECT_THAT(matrix.values, testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, KeepsTheSignOfEachWidth) {
  const std::string header = "', 'fortran_order': False, 'shape': (1, 1), }";
  EXPECT_THAT(parse(npy("{'descr': '|i1" + header, "\xFF")).values, testing::ElementsAre(-1));
  EXPECT_THAT(parse(npy("{'descr': '|u1" + header, "\xFF")).values, testing::ElementsAre(255));
  EXPECT_THAT(parse(npy("{'descr': '<i8" + header, std::string(8, '\xFF'))).values,
              testing::ElementsAre(-1));
  EXPECT_THROW(parse(npy("{'descr': '<u8" + header, std::string(8, '\xFF'))), Failure);
}

TEST(Npy, WrittenFileIsReadBack) {
  const std::string path = testing::TempDir() + "remora_npy_test.npy";
  const IntMatrix matrix{3, 2, {0, 1, -2, 4095, 2147483647, -2147483647 - 1}};
  write_npy(path, matrix);
  const IntMatrix again = read_npy(path);
  EXPECT_EQ(again.rows, 3);
  EXPECT_EQ(again.columns, 2);
  EXPECT_EQ(again.values, matrix.values);
  std::remove(path.c_str());
}

// Whatever is done to a file, it is read or refused by name: nothing else is thrown, nothing past
// the end is touched (which the address sanitizer would tell).
TEST(Npy, DamagedBytesAreReadOrRefused) {
  const std::string good = small();
  int refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int byte : {0x00, 0x20, 0x27, 0x28, 0x39, 0x7F, 0xFF}) {
      std::string bad = good;
      bad[at] = static_cast<char>(byte);
      try {
        parse(bad);
      } catch (const Failure& failure) {
        EXPECT_EQ(std::string(failure.what()).rfind("c.npy: ", 0), 0u) << failure.what();
        ++refused;
      }
    }
    EXPECT_THROW(parse(good.substr(0, at)), Failure) << at;
  }
  EXPECT_GT(refused, 100);
}

TEST(Npy, MissingFileAndFolderAreNamed) {
  EXPECT_THROW(read_npy("/nowhere/c.npy"), Failure);
  EXPECT_THROW(read_npy(testing::TempDir()), Failure);
  EXPECT_THROW(write_npy("/nowhere/c.npy", {1, 1, {1}}), Failure);
}

}  // namespace
}  // namespace remora::cli

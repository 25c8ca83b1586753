#include <gmock/gmock.h>

#include "io/archive_builder.h"
#include "io/memory_source.h"
#include "io/state_dict.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string file_of(std::string_view header, std::string_view data = "") {
  return little(header.size(), 8) + std::string(header) + std::string(data);
}

std::string error_for(std::string_view bytes) {
  return error_of([&] {
    StateDict out;
    io::read_safetensors(memory_source("w.safetensors", bytes), out);
  });
}

// The error for one tensor "t" with this description, in a file of 32 data bytes.
std::string error_for_entry(const std::string& entry) {
  return error_for(file_of("{\"t\":" + entry + "}", std::string(32, '\0')));
}

TEST(Safetensors, RB_43_LengthOfTheHeaderIsCheckedAgainstTheFile) {
  for (const std::string_view bytes :
       {std::string_view(""), std::string_view("\0\0\0\0\0\0\0", 7),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10),
        std::string_view("\0\0\0\0\0\0\0\0{}", 10), std::string_view("\x03\0\0\0\0\0\0\0{}", 10),
        std::string_view("\0\0\0\0\0\0\0\x80{}", 10)}) {
    EXPECT_THAT(error_for(bytes), StartsWith("REMORA_E_FORMAT: w.safetensors: not a safetensors"));
  }
}

TEST(Safetensors, RB_43_HeadersThatAreNoObjectOfDescriptionsAreRefused) {
  for (const std::string_view header : {"no JSON at all", "{\"t\":", "[1,2]", "7", "\"text\"",
                                        "null", "{\"t\":{}} x", "{\"t\":\"\xff\xfe\"}"}) {
    EXPECT_THAT(error_for(file_of(header)), StartsWith("REMORA_E_FORMAT: w.safetensors: "))
        << header;
  }
  for (const std::string entry : {"7", "null", "[]", "\"F32\"", "{}", "{\"dtype\":\"F32\"}"}) {
    EXPECT_THAT(error_for_entry(entry), HasSubstr("tensor t has ")) << entry;
  }
}

TEST(Safetensors, RB_43_ShapeAndOffsetsAreCheckedAgainstEachOther) {
  const auto entry = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return error_for_entry(
        concat("{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":", offsets, "}"));
  };
  EXPECT_EQ(entry("F32", "[8]", "[0,32]"), "");
  EXPECT_EQ(entry("F32", "[]", "[4,8]"), "");
  EXPECT_EQ(entry("F32", "[0,5]", "[32,32]"), "");
  EXPECT_THAT(entry("F32", "[5,30]", "[0,40000]"), HasSubstr("needs 600 bytes"));
  EXPECT_THAT(entry("F32", "[4]", "[24,8]"), HasSubstr("tensor t has offsets [24,8]"));
  EXPECT_THAT(entry("F32", "[4]", "[16]"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "[0,16,32]"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "16"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "[-16,0]"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "[0,16.0]"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "[0,[16]]"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry("F32", "[4]", "[0,1e999]"), HasSubstr("w.safetensors"));
  EXPECT_THAT(entry("F64", "[3]", "[0,8]"), HasSubstr("needs 24 bytes"));
  EXPECT_THAT(entry("F32", "[9]", "[0,36]"), HasSubstr("incomplete download?"));
  EXPECT_THAT(entry("F32", "[-1]", "[0,4]"), HasSubstr("shape"));
  EXPECT_THAT(entry("F32", "[\"1\"]", "[0,4]"), HasSubstr("shape"));
  EXPECT_THAT(entry("F32", "[18446744073709551615]", "[0,4]"), HasSubstr("shape"));
  EXPECT_THAT(entry("F32", "[4294967296,4294967296]", "[0,0]"), HasSubstr("impossible shape"));
  EXPECT_THAT(entry("F32", "[0,9223372036854775807,9]", "[0,0]"), HasSubstr("impossible shape"));
  EXPECT_THAT(entry("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), HasSubstr("shape"));
  EXPECT_THAT(entry("F8_E4M3", "[4]", "[0,4]"), HasSubstr("dtype F8_E4M3, which is not read"));
}

TEST(Safetensors, NamesAndFieldsThatComeTwiceAreRefused) {
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(error_for(file_of("{\"t\":" + entry + ",\"t\":" + entry + "}", "x")),
              HasSubstr("tensor t is there twice"));
  EXPECT_NE(error_for_entry(R"({"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]})"), "");
  EXPECT_NE(error_for_entry(R"({"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]})"), "");
}

TEST(Safetensors, MetadataAndUnknownFieldsAreSkippedButNotNested) {
  const std::string tensor = R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":"x"})";
  EXPECT_EQ(
      error_for(file_of(R"({"__metadata__":{"format":"pt","dtype":"x"},)" + tensor + "}  ", "x")),
      "");
  EXPECT_NE(error_for(file_of(R"({"__metadata__":{"a":{"b":"c"}},)" + tensor + "}", "x")), "");
}

TEST(Safetensors, HeadersMadeOfBracketsAreRefusedAtTheFirst) {
  // Millions of values in a tree would cost many times the file's size.
  EXPECT_THAT(error_for(file_of(std::string(1 << 20, '['))), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_for(file_of("{\"t\":" + std::string(1 << 20, '[') + "}")),
              HasSubstr("tensor t has no description object"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(error_for(file_of(objects)), HasSubstr("REMORA_E_FORMAT"));
}

TEST(Safetensors, RB_43_OtherFilesAreToldApart) {
  EXPECT_THAT(error_for(read_file(data_path("codec/wrapped_mini_dict.pth"))),
              HasSubstr("PyTorch .pth archive"));
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(error_for("<html><body>Not Found</body></html>"), HasSubstr("web page"));
  EXPECT_THAT(error_for("\x80\x02}q\x01X\x01"), HasSubstr("Python pickle"));
}

TEST(Safetensors, RB_43_EveryCutIsAnError) {
  const std::string whole = read_file(data_path("codec/weightnorm.safetensors"));
  for (size_t length = 0; length < whole.size(); length += 13) {
    EXPECT_THAT(error_for(std::string_view(whole).substr(0, length)),
                StartsWith("REMORA_E_FORMAT: w.safetensors: "))
        << length;
  }
}

TEST(Safetensors, UnalignedDataIsReadRight) {
  // One byte of padding puts the float at an odd address, mapped or not.
  const std::string bytes =
      file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
              R"("f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}} )",
              std::string("\x07") + little(0x3f800000, 4) + little(0x40000000, 4));
  for (const bool mapped : {true, false}) {
    for (const size_t shift : {0, 1, 2, 3}) {
      // The padding blanks at the header's end move the data.
      std::string moved = bytes;
      moved.insert(8 + static_cast<size_t>(static_cast<uint8_t>(bytes[0])), shift, ' ');
      moved[0] = static_cast<char>(static_cast<size_t>(moved[0]) + shift);
      StateDict dict;
      io::read_safetensors(memory_source("w", moved, mapped), dict);
      const at::Tensor f = dict.find("f")->load();  // [2]
      EXPECT_EQ(f[0].item<float>(), 1);
      EXPECT_EQ(f[1].item<float>(), 2);
      EXPECT_EQ(dict.find("a")->load()[0].item<uint8_t>(), 7);
    }
  }
}

TEST(Safetensors, ATensorOutlivesItsDictAndSource) {
  at::Tensor kept;  // [1]
  {
    StateDict dict;
    io::read_safetensors(
        memory_source("w",
                      file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "\x07")),
        dict);
    kept = dict.find("a")->load();
  }
  EXPECT_EQ(kept[0].item<uint8_t>(), 7);
}

}  // namespace
}  // namespace remora::test

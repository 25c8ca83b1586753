#include "io/pth.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "io/archive_builder.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;

StateDict read_file_at(const std::string& relative) {
  return io::read_pth(io::open_file(data_path(relative)));
}

std::string error_for(std::string_view bytes) {
  return error_of([&] { io::read_pth(memory_source("f.pth", bytes)); });
}

// The error for a file whose one tensor, in a storage of four floats, has this description.
std::string error_for_tensor(const std::string& tensor) {
  return error_for(pth(pickle::dict({pickle::text("t"), tensor}), {std::string(16, '\0')}));
}

const std::string kFourFloats = pickle::storage("FloatStorage", "0", 4);
const std::string kTensor = pickle::tensor(kFourFloats, 0, {4}, {1});

TEST(Pth, CodecFileEqualsItsSafetensorsTwinPlusSixStaleBuffers) {
  const StateDict dict = read_file_at("codec/codec.pth");
  StateDict twin;
  io::read_safetensors(io::open_file(data_path("codec/codec.safetensors")), twin);
  for (const auto& [name, stored] : twin.tensors()) {
    ASSERT_TRUE(dict.contains(name)) << name;
    EXPECT_EQ(dict.find(name)->dtype, stored.dtype) << name;
    EXPECT_TRUE(close(dict.find(name)->load(), stored.load(), 0)) << name;
  }
  std::vector<std::string> extra;
  for (const auto& [name, stored] : dict.tensors()) {
    if (!twin.contains(name)) extra.push_back(name);
  }
  auto stale =
      load_json("codec/index.json")["files"]["codec.pth"]["stale"].get<std::vector<std::string>>();
  std::sort(stale.begin(), stale.end());
  EXPECT_EQ(extra, stale);
}

TEST(Pth, WrappedFormsGiveTheInnerMappingWithItsNames) {
  for (const std::string form : {"dict", "ordered"}) {
    const StateDict dict = read_file_at("codec/wrapped_mini_" + form + ".pth");
    EXPECT_EQ(dict.first_name(), "generator.decoder.model.6.conv.bias");
    EXPECT_EQ(dict.size(), 8u);
    const io::StoredTensor* weight =
        dict.find("generator.decoder.model.6.conv.parametrizations.weight.original1");
    ASSERT_NE(weight, nullptr);
    EXPECT_EQ(weight->shape, (std::vector<int64_t>{1, 3, 7}));
  }
}

TEST(Pth, LanguageModelFilesKeepTheOrderOfTheFile) {
  const StateDict ordered = read_file_at("lm/s1mini_tiny/model.pth");
  EXPECT_EQ(ordered.first_name(), "embeddings.weight");
  const io::StoredTensor* table = ordered.find("embeddings.weight");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->dtype, at::kBFloat16);
  const StateDict trainer = read_file_at("lm/s1proj_tiny/model.pth");
  EXPECT_TRUE(trainer.first_name().starts_with("model.")) << trainer.first_name();
}

TEST(Pth, SourcesThatCannotBeMappedGiveTheSameTensors) {
  const std::string bytes = read_file(data_path("codec/wrapped_mini_dict.pth"));
  const StateDict mapped = io::read_pth(memory_source("m", bytes));
  const StateDict read = io::read_pth(memory_source("r", bytes, false));
  ASSERT_EQ(mapped.size(), read.size());
  for (const auto& [name, stored] : mapped.tensors()) {
    EXPECT_TRUE(close(read.find(name)->load(), stored.load(), 0)) << name;
  }
}

TEST(Pth, RB_48_SharedStorageOffsetsAndTransposedViews) {
  std::string floats;
  for (const uint32_t bits : {0x3f800000u, 0x40000000u, 0x40400000u, 0x40800000u}) {  // 1 2 3 4
    floats += little(bits, 4);
  }
  const std::string file =
      pth(pickle::dict({pickle::text("rows"), pickle::tensor(kFourFloats, 0, {2, 2}, {2, 1}),
                        pickle::text("columns"), pickle::tensor(kFourFloats, 0, {2, 2}, {1, 2}),
                        pickle::text("tail"), pickle::tensor(kFourFloats, 3, {1}, {1}),
                        pickle::text("scalar"), pickle::tensor(kFourFloats, 2, {}, {}),
                        pickle::text("empty"), pickle::tensor(kFourFloats, 0, {0, 3}, {3, 1})}),
          {floats});
  const StateDict dict = io::read_pth(memory_source("f.pth", file));
  const at::Tensor rows = dict.find("rows")->load();        // [2, 2]
  const at::Tensor columns = dict.find("columns")->load();  // [2, 2]
  EXPECT_EQ(rows[0][1].item<float>(), 2);
  EXPECT_TRUE(close(columns, rows.t(), 0));
  EXPECT_EQ(dict.find("tail")->load()[0].item<float>(), 4);
  EXPECT_EQ(dict.find("scalar")->load().item<float>(), 3);
  EXPECT_EQ(dict.find("empty")->load().sizes(), (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(dict.find("rows")->strides.empty()) << "contiguous tensors carry no strides";
}

TEST(Pth, NestedMappingsBecomeDottedNamesAndOtherValuesAreSkipped) {
  const std::string parameter = pickle::reduce(
      pickle::global("torch._utils", "_rebuild_parameter"),
      {kTensor, "\x88", pickle::reduce(pickle::global("collections", "OrderedDict"), {})});
  const std::string file = pth(
      pickle::dict({pickle::text("epoch"), pickle::integer(3), pickle::text("lr"),
                    std::string("G") + std::string(8, '\x3f'), pickle::text("note"),
                    pickle::text("hello"), pickle::text("seed"),
                    std::string("\x8a\x09") + std::string(9, '\x01'), pickle::text("none"), "N",
                    pickle::text("list"), pickle::list({kTensor}), pickle::text("generator"),
                    pickle::dict({pickle::text("a.b"), kTensor, pickle::integer(7), parameter})}),
      {std::string(16, '\0')});
  const StateDict dict = io::read_pth(memory_source("f.pth", file));
  EXPECT_EQ(dict.first_name(), "generator.a.b");
  EXPECT_TRUE(dict.contains("generator.7"));
  EXPECT_EQ(dict.size(), 2u);
}

TEST(Pth, AStateDictKeyThatIsNoMappingIsNotFollowed) {
  const std::string file = pth(
      pickle::dict({pickle::text("state_dict"), pickle::integer(1), pickle::text("t"), kTensor}),
      {std::string(16, '\0')});
  EXPECT_EQ(io::read_pth(memory_source("f.pth", file)).first_name(), "t");
}

TEST(Pth, RB_48_EveryCutOfASmallFileIsAnError) {
  const std::string whole = read_file(data_path("codec/wrapped_mini_ordered.pth"));
  for (size_t length = 0; length < whole.size(); length += length < 200 ? 1 : 7) {
    EXPECT_THAT(error_for(std::string_view(whole).substr(0, length)),
                testing::StartsWith("REMORA_E_FORMAT: f.pth: "))
        << length;
  }
}

TEST(Pth, EveryCutOfThePickleIsAnError) {
  const std::string top = pickle::dict({pickle::text("t"), kTensor}) + pickle::kStop;
  for (size_t length = 0; length < top.size(); ++length) {
    const std::string data = pickle::kProto2 + top.substr(0, length);
    EXPECT_NE(error_for(zip({{"m/data.pkl", data}, {"m/data/0", std::string(16, '\0')}})), "")
        << length;
  }
}

TEST(Pth, AFlippedByteIsAnErrorOrStillATensorInsideTheFile) {
  const std::string whole = read_file(data_path("codec/wrapped_mini_dict.pth"));
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x81);
    error_of([&] {
      const StateDict dict = io::read_pth(memory_source("f.pth", changed));
      for (const auto& [name, stored] : dict.tensors()) {
        // The sanitizers watch the reads; the size tells that the bounds were kept.
        EXPECT_LE(stored.offset + stored.byte_size(), changed.size()) << at;
        stored.load().clone();
      }
    });
  }
}

TEST(Pth, RB_48_ACallOfAnythingElseIsRefusedByName) {
  const std::string call = pickle::reduce(pickle::global("os", "system"), {pickle::text("true")});
  EXPECT_THAT(error_for_tensor(call), AllOf(HasSubstr("os.system"), HasSubstr("refused")));
  // Hidden in a value that would be skipped, it is refused all the same.
  const std::string hidden = pickle::list({call});
  EXPECT_THAT(error_for_tensor(hidden), HasSubstr("os.system"));
  // The allowed names only as they are: no prefix, no other split into module and name.
  EXPECT_THAT(error_for_tensor(pickle::global("torch", "FloatStorage2")), HasSubstr("refused"));
  EXPECT_THAT(error_for_tensor(pickle::global("torch FloatStorage", "")), HasSubstr("refused"));
}

TEST(Pth, TensorsThatDoNotFitTheirStorageAreRefused) {
  constexpr int64_t kHuge = INT64_MAX;
  const struct {
    int64_t offset;
    std::vector<int64_t> size, stride;
  } cases[] = {
      {0, {5}, {1}},                                // one too many
      {1, {4}, {1}},                                // shifted past the end
      {4, {1}, {1}},                                // starts at the end
      {0, {2, 2}, {3, 2}},                          // strides reach too far
      {0, {kHuge}, {1}},                            // alone too large
      {0, {kHuge, 4}, {1, 1}},                      // the count overflows
      {0, {1 << 30, 1 << 30, 1 << 30}, {0, 0, 0}},  // one number, repeated
      {0, {2}, {kHuge}},                            // the reach overflows
      {kHuge, {2}, {1}},                            // offset and reach overflow
      {0, {0, kHuge, 8}, {0, 8, 1}},                // empty, yet of an impossible shape
  };
  for (const auto& item : cases) {
    const std::string error =
        error_for_tensor(pickle::tensor(kFourFloats, item.offset, item.size, item.stride));
    EXPECT_THAT(error, AllOf(HasSubstr("f.pth: tensor t "), HasSubstr("does not fit")))
        << shape_text(item.size);
  }
  EXPECT_THAT(error_for_tensor(pickle::tensor(kFourFloats, -1, {1}, {1})), HasSubstr("offset"));
  EXPECT_THAT(error_for_tensor(pickle::tensor(kFourFloats, 0, {-1}, {1})), HasSubstr("size"));
  EXPECT_THAT(error_for_tensor(pickle::tensor(kFourFloats, 3, {2}, {-1})), HasSubstr("stride"));
  EXPECT_THAT(error_for_tensor(pickle::tensor(kFourFloats, 0, {1}, {})), HasSubstr("strides"));
}

TEST(Pth, StoragesThatLieAreRefused) {
  const auto with = [](const std::string& storage) {
    return error_for_tensor(pickle::tensor(storage, 0, {1}, {1}));
  };
  EXPECT_THAT(with(pickle::storage("FloatStorage", "1", 4)), HasSubstr("lacks"));
  EXPECT_THAT(with(pickle::storage("FloatStorage", "0", 5)), HasSubstr("file holds 4"));
  EXPECT_THAT(with(pickle::storage("FloatStorage", "0", INT64_MAX)), HasSubstr("file holds 4"));
  EXPECT_THAT(with(pickle::storage("FloatStorage", "0", -1)), HasSubstr("file holds 4"));
  EXPECT_THAT(with(pickle::storage("FloatStorage", "../data.pkl", 1)), HasSubstr("lacks"));
  EXPECT_THAT(with(pickle::tuple({pickle::text("storage")}) + "Q"), HasSubstr("storage"));
  EXPECT_THAT(with(pickle::integer(1) + "Q"), HasSubstr("storage"));
  EXPECT_THAT(with(pickle::integer(1)), HasSubstr("storage"));
}

TEST(Pth, StructuresSharedWithoutEndAreRefused) {
  // Each level holds the one below twice: 2^40 names from a few hundred bytes.
  std::string top = pickle::dict({pickle::text("t"), kTensor}) + "q\x01";
  for (int level = 0; level < 40; ++level) {
    top = std::string("}(") + pickle::text("a") + top + pickle::text("b") + "h\x01u" + "q\x01";
  }
  EXPECT_THAT(error_for(pth(top, {std::string(16, '\0')})), HasSubstr("REMORA_E_FORMAT"));
  // A mapping inside itself.
  const std::string self = "}q\x01(" + pickle::text("self") + "h\x01u";
  EXPECT_THAT(error_for(pth(self, {})), HasSubstr("REMORA_E_FORMAT"));
  // One mapping of many entries, held by many names.
  std::string wide = "}q\x01(";
  for (int i = 0; i < 2000; ++i) wide += pickle::integer(1000 + i) + "N";
  wide += "u";
  std::string many = std::string("}(") + pickle::text("x") + wide;
  for (int i = 0; i < 2000; ++i) many += pickle::integer(1000 + i) + "h\x01";
  EXPECT_THAT(error_for(pth(many + "u", {})), HasSubstr("out of proportion"));
}

TEST(Pth, OtherFilesAreToldApart) {
  EXPECT_THAT(error_for(""), HasSubstr("empty"));
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(error_for("<!DOCTYPE html><html>Please log in"), HasSubstr("web page"));
  EXPECT_THAT(error_for(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15)),
              HasSubstr("old file form"));
  EXPECT_THAT(error_for(read_file(data_path("codec/rope.safetensors"))),
              HasSubstr("not a PyTorch archive"));
  EXPECT_THAT(error_for(zip({{"a/b", "c"}})), HasSubstr("data.pkl"));
  EXPECT_THAT(error_for(zip({{"a/data.pkl", "c"}, {"b/data.pkl", "c"}})),
              HasSubstr("more than one"));
  EXPECT_THAT(error_for(zip({{"m/data.pkl", "\x80\x02}."}, {"m/byteorder", "big"}})),
              HasSubstr("byte order"));
  EXPECT_THAT(error_for(pth(pickle::dict({}), {})), HasSubstr("no tensors"));
  EXPECT_THAT(error_for(pth(kTensor, {std::string(16, '\0')})), HasSubstr("no mapping"));
}

}  // namespace
}  // namespace remora::test

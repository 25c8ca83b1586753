// Quantised checkpoints that are damaged, asked for what they do not hold, or cannot be written.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "io/memory_source.h"
#include "lm/saved_checkpoint.h"

namespace remora::lm {
namespace {

using test::converted;
using test::converting;
using test::error_of;
using test::Format;
using test::kFormats;
using test::Saved;
using test::TempDir;
using test::TinyModel;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(SavedWeights, OtherWeightsThanTheFilesAreRefused) {
  const TinyModel tiny("s2pro");
  const Saved saved("s2pro", converting(tiny, {Weights::kInt4, 32}));
  EXPECT_EQ(error_of([&] { saved.load(converting(tiny, {Weights::kInt4, 32})); }), "");
  EXPECT_EQ(error_of([&] { saved.load(converting(tiny, {Weights::kInt4, 0})); }), "");
  EXPECT_THAT(error_of([&] {
                saved.load(converting(tiny, {Weights::kInt8, 0}));
              }),
              AllOf(StartsWith("REMORA_E_UNSUPPORTED: " + saved.file()),
                    HasSubstr("holds int4 in groups of 32 weights, and int8 was asked for")));
  EXPECT_THAT(error_of([&] {
                saved.load(converting(tiny, {Weights::kInt4, 64}));
              }),
              HasSubstr("holds int4 in groups of 32 weights, and int4 in groups of 64"));
  LoadOptions bad_group = converting(tiny, {Weights::kInt4, 48});
  EXPECT_THAT(error_of([&] { converted("s2pro", bad_group); }),
              StartsWith("REMORA_E_INVALID_ARGUMENT: groups of 48 columns"));
}

TEST(SavedWeights, ADamagedHeaderIsAnErrorThatSaysWhere) {
  const TinyModel tiny("s2pro");
  const auto error_after = [&](const std::string& from, const std::string& to,
                               const Format& format = kFormats[0]) {
    const Saved saved("s2pro", converting(tiny, format));
    saved.change(from, to);
    return error_of([&] { saved.load(tiny.options()); });
  };
  EXPECT_THAT(error_after("\"remora.quantised\":\"1\"", "\"remora.quantised\":\"2\""),
              AllOf(StartsWith("REMORA_E_UNSUPPORTED: "), HasSubstr("format '2'"),
                    HasSubstr("reads format 1")));
  EXPECT_THAT(error_after("\"remora.weights\":\"int8\"", "\"remora.weights\":\"int3\""),
              AllOf(StartsWith("REMORA_E_FORMAT: "),
                    HasSubstr("remora.weights is 'int3', expected int8 or int4")));
  EXPECT_THAT(error_after("\"remora.weights\":", "\"remora.wwights\":"),
              HasSubstr("metadata remora.weights is missing"));
  EXPECT_THAT(error_after("\"remora.int4_group\":\"64\"", "\"remora.int4_group\":\"63\"",
                          {Weights::kInt4, 64}),
              HasSubstr("remora.int4_group is 63, expected 32 or 64"));
  // The same matrices have other shapes in the other form.
  EXPECT_THAT(error_after("\"remora.int4_group\":\"64\"", "\"remora.int4_group\":\"32\"",
                          {Weights::kInt4, 64}),
              HasSubstr("layers.0.attention.wqkv.scales is [16,1,16], expected [16,2,16]"));
  const int32_t end = tiny.options().end_token;
  EXPECT_THAT(error_after(concat("\"remora.end_token\":\"", end),
                          concat("\"remora.end_token\":\"", end - 1)),
              HasSubstr("is the tokenizer from the same checkpoint?"));
  EXPECT_THAT(error_after("\"remora.residual_codes\":\"128\"", "\"remora.residual_codes\":\"129\""),
              AllOf(StartsWith("REMORA_E_FORMAT: "), HasSubstr("129 residual codes")));
  EXPECT_THAT(error_after("\"remora.residual_codes\":\"128\"", "\"remora.residual_codes\":\"112\""),
              HasSubstr("fast_output.weight is [8,16,16,4], expected [7,16,16,4]"));
  EXPECT_THAT(error_after("\"remora.residual_codes\":\"128\"", "\"remora.residual_codes\":\"-12\""),
              HasSubstr("is '-12', expected a whole number from 1"));
}

TEST(SavedWeights, AMisshapenMissingOrMistypedTensorIsNamed) {
  const TinyModel tiny("s2pro");
  const auto error_after = [&](const std::string& from, const std::string& to) {
    const Saved saved("s2pro", converting(tiny, kFormats[0]));
    saved.change(from, to);
    return error_of([&] { saved.load(tiny.options()); });
  };
  EXPECT_THAT(error_after("\"layers.0.attention.wo.scales\"", "\"layers.0.attention.xo.scales\""),
              HasSubstr("tensor layers.0.attention.wo.scales [4,16] is missing"));
  EXPECT_THAT(error_after("\"layers.0.attention.wo.scales\":{\"dtype\":\"F32\",\"shape\":[4,16]",
                          "\"layers.0.attention.wo.scales\":{\"dtype\":\"F32\",\"shape\":[64]"),
              HasSubstr("layers.0.attention.wo.scales is [64], expected [4,16]"));
  EXPECT_THAT(error_after("\"layers.0.attention.wo.scales\":{\"dtype\":\"F32\"",
                          "\"layers.0.attention.wo.scales\":{\"dtype\":\"I32\""),
              HasSubstr("layers.0.attention.wo.scales holds Int, expected Float"));
  EXPECT_THAT(error_after("\"layers.0.attention.wo.weight\":{\"dtype\":\"U8\"",
                          "\"layers.0.attention.wo.weight\":{\"dtype\":\"I8\""),
              HasSubstr("layers.0.attention.wo.weight holds Char, expected Byte"));
  EXPECT_THAT(error_after("\"norm.weight\"", "\"nrom.weight\""),
              HasSubstr("tensor norm.weight [64] is missing"));
}

TEST(SavedWeights, AFileCutAnywhereIsAnError) {
  const TinyModel tiny("s2pro");
  const Saved saved("s2pro", converting(tiny, kFormats[1]));
  const auto size = std::filesystem::file_size(saved.file());
  for (const double part : {0.999, 0.5, 0.01, 0.0}) {
    std::filesystem::resize_file(saved.file(),
                                 static_cast<uintmax_t>(static_cast<double>(size) * part));
    EXPECT_THAT(error_of([&] { saved.load(tiny.options()); }), StartsWith("REMORA_E_FORMAT: "))
        << part;
  }
}

TEST(SavedWeights, OnlyQuantisedModelsAreSaved) {
  const TempDir folder;
  EXPECT_THAT(error_of([&] {
                save_weights(*TinyModel("s2pro").model, folder.path("model.safetensors"), {});
              }),
              AllOf(StartsWith("REMORA_E_UNSUPPORTED: "), HasSubstr("nothing to save")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// A limit on the size of files stands in for a disk that is full: the same call of the system
// fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int);
};

TEST(SavedWeights, AFullDiskIsAnErrorAndLeavesNothing) {
  const TinyModel tiny("s2pro");
  const auto model = converted("s2pro", converting(tiny, kFormats[0]));
  const TempDir folder;
  const std::string path = folder.path("model.safetensors");
  std::string error;
  {
    const FileSizeLimit limit(100'000);
    error = error_of([&] { save_weights(*model, path, {}); });
  }
  EXPECT_THAT(error, StartsWith("REMORA_E_IO: " + path + ": cannot write: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace remora::lm

// Which files a codec comes from, and what is said when they do not fit.
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/log.h"
#include "codec/decode_stream.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::close;
using test::MemoryFiles;
using testing::AllOf;

at::Tensor codes() { return test::Golden("codec/decode.safetensors")["codes.f2"][0]; }
at::Tensor wave() { return test::Golden("codec/decode.safetensors")["wav.f2"][0][0]; }

std::string message_of(const MemoryFiles& files, Status status, CodecOptions options = {}) {
  try {
    Codec::load(files, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.text();
  }
  return "no error";
}

TEST(CodecLoad, ReadsWhatPythonSaved) {
  MemoryFiles files;
  files.add_golden("codec.pth", "codec.pth");
  files.add_golden("codec.json", "config.json");
  EXPECT_TRUE(has_codec(files));
  EXPECT_TRUE(close(Codec::load(files, {})->decode(codes()), wave(), 2e-5));
}

TEST(CodecLoad, PrefersSafetensorsAndCodecJson) {
  MemoryFiles files;
  files.add_golden("codec.safetensors", "codec.safetensors");
  files.add("codec.pth", "not a checkpoint");
  files.add_golden("codec.json", "config.json");
  files.add("config.json", "not json");
  EXPECT_TRUE(close(Codec::load(files, {})->decode(codes()), wave(), 2e-5));
}

TEST(CodecLoad, PassesOverALanguageModelsConfig) {
  MemoryFiles files;
  files.add_golden("codec.safetensors", "codec.safetensors");
  files.add("config.json", R"({"model_type": "fish_qwen3_omni", "text_config": {"dim": 64}})");
  // The released sizes are expected then, which these tensors do not have.
  const std::string message = message_of(files, Status::kFormat);
  EXPECT_THAT(message, testing::HasSubstr("codec.safetensors: tensor "));
  EXPECT_THAT(message, testing::HasSubstr("expected "));
}

TEST(CodecLoad, RB_47_NamesEveryTensorThatIsMissing) {
  const io::StateDict all = test::golden_tensors();
  const io::StateDict some = all.renamed([](const std::string& name) {
    return name.starts_with("decoder.model.6.") ? std::string() : name;
  });
  try {
    const Codec codec(some, test::golden_codec()->config(), {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.text(), testing::HasSubstr("decoder.model.6.conv.weight [1,3,7]"));
    EXPECT_THAT(error.text(), testing::HasSubstr("decoder.model.6.conv.bias [1]"));
  }
}

TEST(CodecLoad, RB_47_OneMissingTensorIsToldInEveryType) {
  for (const std::string missing :
       {"decoder.model.0.conv.bias", "decoder.model.1.block.1.conv.bias",
        "encoder.block.1.block.0.block.1.conv.bias"}) {
    const io::StateDict some = test::golden_tensors().renamed(
        [&](const std::string& name) { return name == missing ? std::string() : name; });
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      try {
        const Codec codec(some, test::golden_codec()->config(), {.dtype = type});
        ADD_FAILURE() << "no error without " << missing;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::kFormat);
        EXPECT_THAT(error.text(), testing::HasSubstr(missing));
      }
    }
  }
}

TEST(CodecLoad, ShapesAloneGiveTheSameBytes) {
  const CodecConfig& config = test::golden_codec()->config();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool encoder : {true, false}) {
      CodecOptions options{.dtype = type, .encoder = encoder};
      const Codec loaded(test::golden_tensors(), config, options);
      options.shapes_only = true;
      const Codec sized(test::golden_tensors(), config, options);
      EXPECT_EQ(sized.weight_bytes(), loaded.weight_bytes());
    }
  }
}

void keep_line(void* user, int32_t /*level*/, const char* utf8, size_t length) {
  static_cast<std::string*>(user)->append(utf8, length).append("\n");
}

TEST(CodecLoad, RB_47_PrefixesAreCutAndTensorsTooManyAreNoted) {
  const io::StateDict all = test::golden_tensors();
  const CodecConfig& config = test::golden_codec()->config();
  std::string lines;
  for (const std::string prefix : {"module.", "generator.", "module.generator."}) {
    io::StateDict changed = all.renamed([&](const std::string& name) { return prefix + name; });
    changed.insert(prefix + "decoder.spare", *all.find("decoder.model.6.conv.bias"));
    set_log_sink(keep_line, &lines, LogLevel::kDebug);
    const Codec codec(changed, config, {});
    set_log_sink(nullptr, nullptr, LogLevel::kError);
    EXPECT_TRUE(close(codec.decode(codes()), test::golden_codec()->decode(codes()), 0)) << prefix;
    EXPECT_THAT(lines, testing::HasSubstr("tensor decoder.spare is not used")) << prefix;
    lines.clear();
  }
}

TEST(CodecLoad, RB_47_OneTensorRenamedOrOfAnotherShapeIsNamed) {
  const CodecConfig& config = test::golden_codec()->config();
  const auto message = [&](const io::StateDict& dict) -> std::string {
    try {
      const Codec codec(dict, config, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kFormat);
      return error.text();
    }
    return "no error";
  };
  const std::string bias = "decoder.model.6.conv.bias";
  EXPECT_THAT(message(test::golden_tensors().renamed([&](const std::string& name) {
                return name == bias ? "decoder.model.6.conv.bios" : name;
              })),
              testing::HasSubstr("tensor " + bias + " [1] is missing"));
  const io::StateDict all = test::golden_tensors();
  io::StateDict misshapen =
      all.renamed([&](const std::string& name) { return name == bias ? std::string() : name; });
  misshapen.insert(bias, *all.find("decoder.model.0.conv.bias"));
  EXPECT_THAT(message(misshapen), AllOf(testing::HasSubstr("tensor " + bias + " is ["),
                                        testing::HasSubstr("], expected [1]")));
}

TEST(CodecLoad, DecoderAloneNeedsNoEncoderTensors) {
  const io::StateDict decoder_only = test::golden_tensors().renamed([](const std::string& name) {
    const bool encoder = name.starts_with("encoder.") || name.starts_with("quantizer.down") ||
                         name.starts_with("quantizer.pre_module") ||
                         name.find(".in_proj.") != std::string::npos;
    return encoder ? std::string() : name;
  });
  const CodecConfig& config = test::golden_codec()->config();
  const Codec codec(decoder_only, config, {.encoder = false});
  EXPECT_TRUE(close(codec.decode(codes()), wave(), 2e-5));
}

TEST(CodecLoad, TheFingerprintIsThatOfTheCodeTablesAlone) {
  const uint64_t mine = test::golden_codec()->fingerprint();
  EXPECT_NE(mine, 0U);
  const CodecConfig& config = test::golden_codec()->config();
  const io::StateDict tensors = test::golden_tensors();
  EXPECT_EQ(Codec(tensors, config, {.encoder = false}).fingerprint(), mine);
  EXPECT_EQ(Codec(tensors, config, {.decoder = false}).fingerprint(), mine);
  EXPECT_EQ(Codec(tensors, config, {.dtype = at::kBFloat16}).fingerprint(), mine);
  MemoryFiles files;
  files.add_golden("codec.pth", "codec.pth");
  files.add_golden("codec.json", "config.json");
  EXPECT_EQ(Codec::load(files, {})->fingerprint(), mine);

  const auto with_swapped = [&](const std::string& a, const std::string& b) {
    const io::StateDict swapped = tensors.renamed([&](const std::string& name) {
      return name == a ? b : name == b ? a : name;
    });
    return Codec(swapped, config, {}).fingerprint();
  };
  const std::string quantizers = "quantizer.quantizer.quantizers.";
  EXPECT_NE(with_swapped(quantizers + "0.codebook.weight", quantizers + "8.codebook.weight"), mine);
  EXPECT_EQ(with_swapped(quantizers + "0.out_proj.bias", quantizers + "8.out_proj.bias"), mine);
}

TEST(CodecLoad, WithoutWeightsSaysWhatWasLookedFor) {
  MemoryFiles files;
  files.add("config.json", "{}");
  EXPECT_FALSE(has_codec(files));
  EXPECT_THAT(message_of(files, Status::kIo),
              testing::HasSubstr("neither codec.safetensors nor codec.pth"));
}

TEST(CodecLoad, StopsWhenCancelled) {
  MemoryFiles files;
  files.add_golden("codec.safetensors", "codec.safetensors");
  files.add_golden("codec.json", "config.json");
  CancelFlag cancel;
  cancel.raise();
  message_of(files, Status::kCancelled, {.cancel = &cancel});
}

TEST(CodecLoad, RefusesTypesItCannotComputeIn) {
  MemoryFiles files;
  files.add_golden("codec.safetensors", "codec.safetensors");
  files.add_golden("codec.json", "config.json");
  EXPECT_THAT(message_of(files, Status::kUnsupported, {.dtype = at::kDouble}),
              testing::HasSubstr("float32"));
}

}  // namespace
}  // namespace remora::codec

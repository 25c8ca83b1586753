// Hyper-parameters: the released defaults, files, and files that contradict themselves.
#include "codec/config.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "codec_files.h"
#include "io/json.h"
#include "random_codec.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

CodecConfig parse(const nlohmann::json& json) {
  return parse_codec_config(
      io::JsonObject(*test::memory_source("codec.json", json.dump()), 1 << 20));
}

nlohmann::json golden_config() { return test::load_json("codec/config.json"); }

TEST(CodecConfig, DefaultsHaveTheReleasedTensors) {
  std::map<std::string, std::vector<int64_t>> released;
  const nlohmann::json list = test::load_json("codec/tensors_real.json");
  for (const auto& [name, tensor] : list["tensors"].items()) {
    released[name] = tensor["shape"].get<std::vector<int64_t>>();
  }
  EXPECT_EQ(released.size(), 535U);
  EXPECT_EQ(test::codec_shapes(CodecConfig{}), released);
  EXPECT_EQ(CodecConfig{}.frame_length(), 2048);
  EXPECT_EQ(CodecConfig{}.latents_per_frame(), 4);
  EXPECT_EQ(CodecConfig{}.n_codebooks(), 10);
}

TEST(CodecConfig, AnEmptyFileIsTheReleasedCodec) {
  EXPECT_EQ(test::codec_shapes(parse(nlohmann::json::object())), test::codec_shapes(CodecConfig{}));
}

TEST(CodecConfig, ReadsEveryField) {
  const CodecConfig config = parse(golden_config());
  EXPECT_EQ(config.encoder_dim, 4);
  EXPECT_EQ(config.latent_dim, 64);
  EXPECT_EQ(config.decoder_dim, 48);
  EXPECT_EQ(config.encoder_transformer_block, 3);
  EXPECT_EQ(config.encoder_transformer.layers, 2);
  EXPECT_EQ(config.encoder_transformer.window, 24);
  EXPECT_EQ(config.pre_module.layers, 2);
  EXPECT_EQ(config.post_module.layers, 3);
  EXPECT_EQ(config.post_module.heads, 4);
  EXPECT_EQ(config.post_module.intermediate, 160);
  EXPECT_EQ(config.post_module.window, 12);
}

std::string message_of(const nlohmann::json& json) {
  try {
    parse(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kFormat);
    return error.text();
  }
  return "no error";
}

struct BadField {
  std::string pointer;
  nlohmann::json value;
  std::string expected;  // part of the message
};

class BadConfig : public testing::TestWithParam<BadField> {};

TEST_P(BadConfig, NamesFileAndField) {
  nlohmann::json json = golden_config();
  json[nlohmann::json::json_pointer(GetParam().pointer)] = GetParam().value;
  const std::string message = message_of(json);
  EXPECT_THAT(message, testing::HasSubstr("codec.json: "));
  EXPECT_THAT(message, testing::HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    CodecConfig, BadConfig,
    testing::Values(
        BadField{"/sample_rate", 0, "sample_rate is 0"},
        BadField{"/encoder_dim", -4, "encoder_dim is -4"},
        BadField{"/encoder_dim", 60000, "encoder_dim doubled 4 times is 960000"},
        BadField{"/encoder_rates", nlohmann::json::array(), "encoder_rates is empty"},
        BadField{"/encoder_rates", {2, 4, 8, 0}, "encoder_rates"},
        BadField{"/encoder_rates", {2, 4, 8, 16}, "decoder_rates make 2048 samples of a frame"},
        BadField{"/encoder_rates", std::vector<int>(16, 1024), "encoder_dim doubled 16 times"},
        BadField{"/latent_dim", 32, "latent_dim is 32"},
        BadField{"/decoder_dim", 40, "decoder_dim is 40, which cannot be halved 4 times"},
        BadField{"/encoder_transformer_layers", {0, 0, 2}, "encoder_transformer_layers has 3"},
        BadField{"/encoder_transformer_layers", {0, 1, 0, 1}, "behind several blocks"},
        BadField{"/encoder_transformer_layers", {0, 0, 0, 3}, "says 3 layers"},
        BadField{"/encoder_transformer_layers", {0, 0, 2, 0}, "encoder_transformer.dim is 64"},
        BadField{"/frame_length", 1024, "frame_length is 1024, but the strides make it 2048"},
        BadField{"/hop_length", 256, "hop_length is 256"},
        BadField{"/quantizer/n_codebooks", 0, "quantizer.n_codebooks is 0"},
        BadField{"/quantizer/input_dim", 63, "quantizer.input_dim is 63"},
        BadField{"/quantizer/post_module/n_head", 5, "quantizer.post_module.n_head"},
        BadField{"/quantizer/post_module/dim", 32, "quantizer.post_module"},
        BadField{"/quantizer/post_module/window_size", 0, "window_size is 0"},
        BadField{"/quantizer/post_module/n_layer", 1000000, "n_layer is 1000000"},
        BadField{"/quantizer/codebook_dim", "eight", "quantizer.codebook_dim"}));

TEST(CodecConfig, NoEncoderTransformerIsAllowed) {
  nlohmann::json json = golden_config();
  json["encoder_transformer_layers"] = {0, 0, 0, 0};
  EXPECT_EQ(parse(json).encoder_transformer_block, -1);
}

}  // namespace
}  // namespace remora::codec

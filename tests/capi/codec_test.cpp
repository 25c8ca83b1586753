#include "capi_test.h"
#include "support/golden.h"

namespace remora::capi_test {
namespace {

class CodecTest : public testing::Test {
 protected:
  CodecTest() {
    remora_source* source = nullptr;
    EXPECT_OK(remora_source_create(&source));
    EXPECT_OK(remora_source_add_codec_dir(source, data("codec").c_str()));
    remora_model_params params;
    EXPECT_OK(remora_model_params_init(&params, sizeof params));
    params.flags = REMORA_MODEL_NO_LM;
    remora_model* model = nullptr;
    EXPECT_OK(remora_model_create(source, &params, &model));
    model_.reset(model);
    remora_source_destroy(source);
  }
  Owned<remora_model> model_;
  const test::Golden decode_{"codec/decode.safetensors"};
};

TEST_F(CodecTest, DescribesACodecAlone) {
  remora_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_OK(remora_model_describe(model_.get(), &info));
  EXPECT_STREQ(info.family, "codec");
  EXPECT_EQ(info.has_lm, 0);
  EXPECT_EQ(info.n_codebooks, 10);
  EXPECT_EQ(info.samples_per_frame, 2048);
  EXPECT_EQ(info.sample_rate, 44100);
  remora_session* session = nullptr;
  EXPECT_EQ(remora_session_create(model_.get(), nullptr, &session), REMORA_E_UNSUPPORTED);
}

TEST_F(CodecTest, DecodesTheReferenceClips) {
  for (const std::string name : {"f1", "f2", "f17", "f100"}) {
    const at::Tensor codes = decode_["codes." + name].to(at::kInt).contiguous();
    const auto frames = static_cast<size_t>(codes.size(2));
    const int32_t* data = codes.const_data_ptr<int32_t>();
    size_t needed = 0;
    ASSERT_OK(remora_codec_decode(model_.get(), data, frames, nullptr, 0, &needed));
    ASSERT_EQ(needed, frames * 2048);
    at::Tensor pcm = decode_["wav." + name].clone().zero_();
    EXPECT_EQ(
        remora_codec_decode(model_.get(), data, frames, pcm.data_ptr<float>(), needed - 1, &needed),
        REMORA_E_BUFFER_TOO_SMALL);
    ASSERT_OK(
        remora_codec_decode(model_.get(), data, frames, pcm.data_ptr<float>(), needed, &needed));
    EXPECT_TRUE(test::close(pcm, decode_["wav." + name], 2e-5)) << name;
  }
}

TEST_F(CodecTest, StreamsInPiecesOfAnySize) {
  const at::Tensor codes = decode_["codes.f100"][0].to(at::kInt);  // [10, 100]
  const at::Tensor expected = decode_["wav.f100"][0][0];
  remora_codec_stream* raw = nullptr;
  ASSERT_OK(remora_codec_stream_create(model_.get(), &raw));
  const Owned<remora_codec_stream> stream(raw);
  for (const int64_t piece : {1, 3, 4, 7, 25}) {
    at::Tensor pcm = expected.clone().zero_();
    for (int64_t start = 0; start < 100; start += piece) {
      const int64_t n = std::min<int64_t>(piece, 100 - start);
      const at::Tensor part = codes.narrow(1, start, n).contiguous();
      const auto frames = static_cast<size_t>(n);
      float* out = pcm.data_ptr<float>() + start * 2048;
      size_t needed = 0;
      EXPECT_EQ(remora_codec_stream_push(stream.get(), part.const_data_ptr<int32_t>(), frames, out,
                                         1, &needed),
                REMORA_E_BUFFER_TOO_SMALL);
      ASSERT_OK(remora_codec_stream_push(stream.get(), part.const_data_ptr<int32_t>(), frames, out,
                                         needed, &needed));
    }
    EXPECT_TRUE(test::close(pcm, expected, 2e-5)) << "pieces of " << piece;
    ASSERT_OK(remora_codec_stream_reset(stream.get()));
  }
}

TEST_F(CodecTest, RefusesNegativeCodesAndImpossibleSizes) {
  std::vector<int32_t> codes(10, 0);
  codes[3] = -1;
  std::vector<float> pcm(2048);
  size_t needed = 0;
  EXPECT_EQ(remora_codec_decode(model_.get(), codes.data(), 1, pcm.data(), pcm.size(), &needed),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_codec_decode(model_.get(), codes.data(), SIZE_MAX / 2, pcm.data(), pcm.size(),
                                &needed),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_codec_decode(model_.get(), nullptr, 1, pcm.data(), pcm.size(), &needed),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_OK(remora_codec_decode(model_.get(), nullptr, 0, nullptr, 0, &needed));
  EXPECT_EQ(needed, 0U);
}

}  // namespace
}  // namespace remora::capi_test

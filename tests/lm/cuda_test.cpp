// What only a CUDA device can show; skipped, in words, without one.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::globalContext().hasCUDA())
      GTEST_SKIP() << "no CUDA device, or a LibTorch without CUDA";
  }

  static std::shared_ptr<const LanguageModel> load(const test::TinyModel& tiny,
                                                   at::ScalarType dtype) {
    LoadOptions options = tiny.options();
    options.device = at::Device(at::kCUDA, 0);
    options.dtype = dtype;
    return LanguageModel::load(*io::open_directory(test::data_path("lm/s2pro_tiny")), options);
  }

  static DecoderOptions how(nn::KvMode mode, nn::SdpaPolicy sdpa) {
    DecoderOptions options;
    options.capacity = 256;
    options.kv_mode = mode;
    options.sdpa = sdpa;
    return options;
  }
};

TEST_F(Cuda, GreedyFramesEqualTheCpusInEveryMode) {
  const test::TinyModel tiny("s2pro");
  const auto model = load(tiny, at::kFloat);
  const std::vector<int32_t> prompt = tiny.columns("chinese.b0.prompt");
  Decoder cpu(tiny.model, {});
  cpu.set_sampling(test::greedy(), 0);
  cpu.prefill(prompt, CancelFlag());
  const auto expected = test::run_frames(cpu, 14);
  for (const nn::KvMode mode : {nn::KvMode::kActivePrefix, nn::KvMode::kFull, nn::KvMode::kGraph}) {
    for (const nn::SdpaPolicy sdpa :
         {nn::SdpaPolicy::kAuto, nn::SdpaPolicy::kMath, nn::SdpaPolicy::kEfficient}) {
      Decoder decoder(model, how(mode, sdpa));
      decoder.set_sampling(test::greedy(), 0);
      decoder.prefill(prompt, CancelFlag());
      EXPECT_EQ(test::run_frames(decoder, 14), expected)
          << static_cast<int>(mode) << " " << nn::sdpa_name(sdpa);
    }
  }
}

TEST_F(Cuda, KvRegression5EachStepIsCapturedOnceForAllPositions) {
  const test::TinyModel tiny("s2pro");
  Decoder decoder(load(tiny, at::kFloat), how(nn::KvMode::kGraph, nn::SdpaPolicy::kAuto));
  decoder.set_sampling(test::greedy(), 0);
  for (const std::string name : {"ascii", "ref_one"}) {
    decoder.prefill(tiny.columns(name + ".b0.prompt"), CancelFlag());
    test::run_frames(decoder, 20);
    EXPECT_EQ(decoder.stats().graph_captures, 2U) << "the slow and the fast step";
  }
}

TEST_F(Cuda, FlashAndCudnnRunInHalfPrecisionAndContinueAPrefill) {
  const test::TinyModel tiny("s2pro");
  const auto model = load(tiny, at::kBFloat16);
  for (const nn::SdpaPolicy sdpa : {nn::SdpaPolicy::kFlash, nn::SdpaPolicy::kCudnn}) {
    Decoder decoder(model, how(nn::KvMode::kActivePrefix, sdpa));
    decoder.set_sampling(test::greedy(), 0);
    decoder.prefill(tiny.columns("multi_batch.b0.prompt"), CancelFlag());
    EXPECT_GT(decoder.prefill(tiny.columns("multi_batch.b1.prompt"), CancelFlag()), 0);
    EXPECT_EQ(decoder.stats().sdpa_prefill, sdpa);
    test::run_frames(decoder, 4);
    EXPECT_EQ(decoder.stats().sdpa_step, sdpa);
  }
}

}  // namespace
}  // namespace remora::lm

// The reference's own requests through the C ABI: prompts and greedy codes must be equal.
#include "support/golden.h"
#include "capi_test.h"

namespace remora::capi_test {
namespace {

using nlohmann::json;

struct Suite {
  const char* model;
  const char* cases;  // lm/<cases>.json and .safetensors
};

class GoldenRequests : public testing::TestWithParam<Suite> {
 protected:
  GoldenRequests()
      : cases_(test::load_json(std::string("lm/") + GetParam().cases + ".json")),
        tensors_(std::string("lm/") + GetParam().cases + ".safetensors"),
        model_(open_model(GetParam().model, false)) {}

  std::vector<Owned<remora_voice>> voices_of(const json& request) {
    std::vector<Owned<remora_voice>> voices;
    for (const json& reference : request["references"]) {
      const at::Tensor codes =
          tensors_[reference["codes"].get<std::string>()].to(at::kInt).contiguous();
      const auto text = reference["text"].get<std::string>();
      remora_voice* voice = nullptr;
      EXPECT_OK(remora_voice_from_codes(model_.get(), codes.const_data_ptr<int32_t>(),
                                        static_cast<size_t>(codes.size(1)), text.data(),
                                        text.size(), &voice));
      voices.emplace_back(voice);
    }
    return voices;
  }

  std::vector<int32_t> matrix(const at::Tensor& tensor) const {
    const at::Tensor ints = tensor.to(at::kInt).contiguous();
    const int32_t* data = ints.const_data_ptr<int32_t>();
    return {data, data + ints.numel()};
  }

  const json cases_;
  const test::Golden tensors_;
  const Owned<remora_model> model_;
};

// Codes [rows, frames] of the reference, without a closing end frame.
std::vector<std::vector<int32_t>> expected_frames(const at::Tensor& frames, int32_t end_token) {
  std::vector<std::vector<int32_t>> out;
  for (int64_t i = 0; i < frames.size(1); ++i) {
    if (frames[0][i].item<int64_t>() == end_token) break;
    std::vector<int32_t> codes;
    for (int64_t row = 1; row < frames.size(0); ++row) {
      codes.push_back(frames[row][i].item<int32_t>());
    }
    out.push_back(std::move(codes));
  }
  return out;
}

TEST_P(GoldenRequests, SinglePromptsAndGreedyCodesAreEqual) {
  int compared = 0;
  for (const json& request : cases_["cases"]) {
    const auto name = request["name"].get<std::string>();
    const json& batch = request.contains("batches") ? request["batches"][0] : request;
    if (request.contains("batches") && request["batches"].size() > 1) continue;
    SCOPED_TRACE(name);
    const auto text = request["text"].get<std::string>();
    const auto voices = voices_of(request);
    std::vector<const remora_voice*> pointers;
    for (const auto& voice : voices) pointers.push_back(voice.get());

    remora_prompt prompt = text_prompt(text);
    prompt.flags = REMORA_PROMPT_ALLOW_CONTROL;
    prompt.voices = pointers.data();
    prompt.n_voices = pointers.size();

    const std::vector<int32_t> expected = matrix(tensors_[batch["prompt"].get<std::string>()]);
    size_t needed = 0;
    ASSERT_OK(remora_model_prompt(model_.get(), &prompt, nullptr, 0, &needed));
    std::vector<int32_t> tokens(needed);
    ASSERT_OK(remora_model_prompt(model_.get(), &prompt, tokens.data(), needed, &needed));
    ASSERT_EQ(tokens, expected);

    const auto session = open_session(model_.get());
    const remora_sampling sampling = greedy(request["max_new_tokens"].get<int32_t>());
    ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    const at::Tensor frames = tensors_[batch["frames"].get<std::string>()];
    EXPECT_EQ(run_frames(session.get(), static_cast<int32_t>(frames.size(0) - 1)),
              expected_frames(frames, cases_["im_end_id"].get<int32_t>()));
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GoldenRequests,
                         testing::Values(Suite{"s2pro_tiny", "s2pro_cases"},
                                         Suite{"s1mini_tiny", "s1mini_cases"},
                                         Suite{"s1proj_tiny", "s1proj_cases"}),
                         [](const auto& info) { return std::string(info.param.model); });

// Several turns in one text: the reference speaks them as batches of one conversation.
TEST(GoldenConversation, BatchesOfTaggedTurnsAreEqual) {
  const json cases = test::load_json("lm/s2pro_cases.json");
  const test::Golden tensors("lm/s2pro_cases.safetensors");
  const auto model = open_model("s2pro_tiny", false);
  for (const json& request : cases["cases"]) {
    if (request["batches"].size() < 2 || !request["references"].empty()) continue;
    // Text in front of the first tag is a turn of its own here and dropped there.
    auto text = request["text"].get<std::string>();
    text.erase(0, text.find("<|speaker:"));
    remora_prompt prompt = text_prompt(text);
    prompt.split_bytes = request["chunk_length"].get<uint64_t>();
    const auto session = open_session(model.get());
    const remora_sampling sampling = greedy(request["max_new_tokens"].get<int32_t>());
    ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    const auto frames = run_frames(session.get(), 6);
    std::vector<std::vector<int32_t>> expected;
    for (const json& batch : request["batches"]) {
      // The reference drops the last frame of every batch before it goes on: the conversations are
      // the same only up to the first batch that was cut by its length.
      const auto part = expected_frames(tensors[batch["frames"].get<std::string>()],
                                        cases["im_end_id"].get<int32_t>());
      expected.insert(expected.end(), part.begin(), part.end());
      if (!batch["ended_with_im_end"].get<bool>()) break;
    }
    ASSERT_GE(frames.size(), expected.size());
    EXPECT_EQ(std::vector(frames.begin(), frames.begin() + static_cast<long>(expected.size())),
              expected);
    remora_stats stats{};
    stats.struct_size = sizeof stats;
    ASSERT_OK(remora_session_stats(session.get(), &stats));
    EXPECT_EQ(stats.pieces, request["batches"].size());
    EXPECT_EQ(stats.pieces_done, stats.pieces);
    EXPECT_EQ(stats.text_done, text.size());
  }
}

}  // namespace
}  // namespace remora::capi_test

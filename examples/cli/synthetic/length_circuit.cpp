#include "synthetic/length_circuit.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "failure.h"

namespace remora::cli {
namespace {

constexpr int64_t kConstant = 0;
constexpr int64_t kSound = 1;
constexpr int64_t kShare = 2;
constexpr int64_t kChannels = 3;

constexpr float kConstantLevel = 1.0f;
constexpr float kSoundLevel = 0.6f;
constexpr float kShareGain = 1.0f;

// The end token's row of the head: how far its logit starts below the others, and how steeply it
// climbs. Found by trial: over 16 sets of weights and 8 seeds each, 18 letters took 31 to 66
// frames, which is 1.4 to 3.1 s, and always came to their end.
struct EndRow {
  float constant;
  float share;
};
constexpr EndRow kS2End = {-7.5f, 7.0f};
constexpr EndRow kS1End = {-7.0f, 5.0f};

TensorSpec& find_tensor(std::vector<TensorSpec>& tensors, std::string_view suffix) {
  for (TensorSpec& tensor : tensors) {
    if (tensor.name == suffix || tensor.name == "text_model.model." + std::string(suffix) ||
        tensor.name == "audio_decoder." + std::string(suffix)) {
      return tensor;
    }
  }
  throw Failure(kError, "made-up checkpoint: no tensor " + std::string(suffix));
}

// S2-Pro's head is the text embedding itself, S1-mini has one of its own.
TensorSpec& find_head(const LmShape& shape, std::vector<TensorSpec>& tensors) {
  const bool tied = shape.family == Family::kS2Pro;
  return find_tensor(tensors, tied ? "embeddings.weight" : "output.weight");
}

class Circuit {
 public:
  Circuit(const LmShape& shape, const Vocabulary& vocabulary, std::vector<TensorSpec>& tensors)
      : shape_(shape), vocabulary_(vocabulary), tensors_(tensors) {}

  void build() {
    embeddings();
    keep_channels_free();
    counting_head();
    end_row();
  }

 private:
  TensorSpec& find(std::string_view suffix) { return find_tensor(tensors_, suffix); }

  static void set_column(TensorSpec& matrix, int64_t column, float value) {
    matrix.patches.push_back({0, matrix.shape[0], column, column + 1, value});
  }

  void embeddings() {
    TensorSpec& text = find("embeddings.weight");
    set_column(text, kConstant, kConstantLevel);
    set_column(text, kSound, 0);
    set_column(text, kShare, 0);
    text.patches.push_back({vocabulary_.semantic_begin, vocabulary_.semantic_end + 1, kSound,
                            kSound + 1, kSoundLevel});
    // A sound column is (text row + n code rows) / sqrt(n + 1): code rows make up for the division.
    TensorSpec& codes = find("codebook_embeddings.weight");
    const auto n = static_cast<float>(shape_.n_codebooks);
    set_column(codes, kConstant, kConstantLevel * (std::sqrt(n + 1) - 1) / n);
    set_column(codes, kSound, kSoundLevel * (std::sqrt(n + 1) - 1) / n);
    set_column(codes, kShare, 0);
  }

  // No layer but the counting head writes into the three channels.
  void keep_channels_free() {
    for (int64_t i = 0; i < shape_.slow.n_layer; ++i) {
      const std::string layer = "layers." + std::to_string(i) + ".";
      for (const char* name : {"attention.wo.weight", "feed_forward.w2.weight"}) {
        TensorSpec& matrix = find(layer + name);
        matrix.patches.push_back({0, kChannels, 0, matrix.shape[1], 0});
      }
    }
  }

  void counting_head() {
    const StackShape& slow = shape_.slow;
    TensorSpec& wqkv = find("layers.0.attention.wqkv.weight");
    const int64_t value_row = (slow.n_head + slow.n_kv_head) * slow.head_dim;  // of KV head 0
    wqkv.patches.push_back({0, slow.head_dim, 0, slow.dim, 0});                // query of head 0
    wqkv.patches.push_back({value_row, value_row + 1, 0, slow.dim, 0});
    wqkv.patches.push_back({value_row, value_row + 1, kSound, kSound + 1, 1});
    find("layers.0.attention.wo.weight").patches.push_back({kShare, kShare + 1, 0, 1, kShareGain});
  }

  void end_row() {
    const bool tied = shape_.family == Family::kS2Pro;
    TensorSpec& head = find_head(shape_, tensors_);
    const EndRow end = tied ? kS2End : kS1End;
    const int64_t row = vocabulary_.end_id;
    if (!tied) head.patches.push_back({0, head.shape[0], 0, kChannels, 0});
    head.patches.push_back({row, row + 1, 0, shape_.slow.dim, 0});
    // Relative to the other rows, which have kConstantLevel there when the head is tied.
    head.patches.push_back(
        {row, row + 1, kConstant, kConstant + 1, end.constant + (tied ? kConstantLevel : 0)});
    head.patches.push_back({row, row + 1, kShare, kShare + 1, end.share});
    if (tied) head.patches.push_back({row, row + 1, kSound, kSound + 1, kSoundLevel});
  }

  const LmShape& shape_;
  const Vocabulary& vocabulary_;
  std::vector<TensorSpec>& tensors_;
};

}  // namespace

void add_length_circuit(const LmShape& shape, const Vocabulary& vocabulary,
                        std::vector<TensorSpec>& tensors) {
  Circuit(shape, vocabulary, tensors).build();
}

void remove_end(const LmShape& shape, const Vocabulary& vocabulary,
                std::vector<TensorSpec>& tensors) {
  const int64_t row = vocabulary.end_id;
  find_head(shape, tensors).patches.push_back({row, row + 1, 0, shape.slow.dim, 0});
}

}  // namespace remora::cli

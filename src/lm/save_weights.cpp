#include "lm/save_weights.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "io/safetensors_writer.h"
#include "lm/fast.h"
#include "lm/slow.h"

namespace remora::lm {
namespace {

// Tensors in the model's order, under its own names.
class Collector {
 public:
  void model(const SlowModel& slow) {
    const SlowModel::Parts& parts = slow.parts();
    stack("layers.", slow.transformer());
    add("norm.weight", parts.norm);
    matrix("output", parts.head);
    if (parts.has_project) matrix("fast_project_in", parts.project);
    add("embeddings.weight", parts.embeddings);
    add("codebook_embeddings.weight", parts.codebook_embeddings);
  }
  void model(const FastModel& fast) {
    stack("fast_layers.", fast.transformer());
    add("fast_norm.weight", fast.parts().norm);
    matrix("fast_output", fast.parts().head);
    add("fast_embeddings.weight", fast.parts().embeddings);
  }
  std::vector<io::NamedTensor> take() { return std::move(all_); }

 private:
  void add(std::string name, const at::Tensor& tensor) {
    if (tensor.defined()) all_.push_back({std::move(name), tensor.contiguous()});
  }
  void matrix(const std::string& name, const nn::Linear& linear) {
    const nn::PackedMatrix packed = linear.packed();
    add(concat(name, ".weight"), packed.data);
    add(scales_name(concat(name, ".weight")), packed.scales);
    add(concat(name, ".bias"), linear.bias());
  }
  void stack(std::string_view prefix, const Transformer& transformer) {
    int64_t layer = 0;
    for (const Block& block : transformer.blocks()) {
      const std::string at = concat(prefix, layer++, ".");
      add(at + "attention_norm.weight", block.attention_norm);
      add(at + "attention.q_norm.weight", block.q_norm);
      add(at + "attention.k_norm.weight", block.k_norm);
      matrix(at + "attention.wqkv", block.wqkv);
      matrix(at + "attention.wo", block.wo);
      add(at + "ffn_norm.weight", block.ffn_norm);
      matrix(at + "feed_forward.w1", block.w1);
      matrix(at + "feed_forward.w3", block.w3);
      matrix(at + "feed_forward.w2", block.w2);
    }
  }

  std::vector<io::NamedTensor> all_;
};

std::vector<std::pair<std::string, std::string>> description(const LanguageModel& model) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string_view key, const auto& value) {
    out.emplace_back(key, concat(value));
  };
  add(saved_key::kVersion, kSavedVersion);
  add(saved_key::kWeights, weights_name(model.weights()));
  if (model.int4_group() != 0) add(saved_key::kInt4Group, model.int4_group());
  add(saved_key::kSemanticBegin, model.semantic_begin());
  add(saved_key::kSemanticEnd, model.semantic_end());
  add(saved_key::kEndToken, model.end_token());
  add(saved_key::kResidualCodes, model.fast().parts().head.out_features());
  return out;
}

}  // namespace

void save_weights(const LanguageModel& model, const std::string& utf8_path,
                  const std::function<bool(float)>& stop) {
  if (model.weights() == Weights::kAsDtype) {
    throw Error(Status::kUnsupported,
                concat(utf8_path, ": the model's weights are as in its checkpoint, so there is ",
                       "nothing to save; load it with int8 or int4 weights first"));
  }
  Collector tensors;
  tensors.model(model.slow());
  tensors.model(model.fast());
  io::write_safetensors(utf8_path, tensors.take(), description(model), stop);
}

}  // namespace remora::lm

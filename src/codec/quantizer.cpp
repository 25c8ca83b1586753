#include "codec/quantizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>

#include "base/concat.h"
#include "codec/module_names.h"

namespace remora::codec {

Quantizer::Quantizer(Weights& weights, StateLayout& layout, const CodecConfig& config)
    : pre_module_(weights, layout, "quantizer.pre_module", config.pre_module, 1),
      semantic_(weights, kSemanticCodebook, config.semantic_entries, config.codebook_dim,
                config.latent_dim, Codebook::Use::kEncode) {
  for (size_t i = 0; i < config.downsample_factor.size(); ++i) {
    const int64_t factor = config.downsample_factor[i];
    const std::string module = concat("quantizer.downsample.", i);
    downsample_.push_back({CausalConv1d(weights, layout, concat(module, ".0"),
                                        {.in = config.latent_dim,
                                         .out = config.latent_dim,
                                         .kernel = factor,
                                         .stride = factor}),
                           ConvNeXt(weights, layout, concat(module, ".1"), config)});
  }
  for (int64_t i = 0; i < config.residual_codebooks; ++i) {
    residual_.emplace_back(weights, residual_codebook(i), config.residual_entries,
                           config.codebook_dim, config.latent_dim, Codebook::Use::kEncode);
  }
}

at::Tensor Quantizer::search(const Pass& pass, const at::Tensor& z, int64_t residual) const {
  std::vector<at::Tensor> rows;  // [frames] each
  at::Tensor rest = z;
  const auto take = [&](const Codebook& codebook) {
    const Codebook::Match match = codebook.encode(pass, rest);
    rest = rest - match.contribution;
    rows.push_back(match.indices);
  };
  take(semantic_);
  for (int64_t i = 0; i < residual; ++i) take(residual_[static_cast<size_t>(i)]);
  return at::stack(rows);
}

at::Tensor Quantizer::forward(Pass& pass, const at::Tensor& x, int64_t residual) const {
  at::Tensor z = x;
  for (const Downsample& stage : downsample_) {
    pass.check("codec downsampling");
    z = stage.refine.forward(pass, stage.narrow.forward(pass, z).to(at::kFloat));
  }
  return search(pass, pre_module_.forward(pass, z), residual);
}

}  // namespace remora::codec

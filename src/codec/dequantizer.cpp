#include "codec/dequantizer.h"

#include <ATen/TensorOperators.h>

#include "base/concat.h"
#include "codec/module_names.h"

namespace remora::codec {

Dequantizer::Dequantizer(Weights& weights, StateLayout& layout, const CodecConfig& config)
    : semantic_(weights, kSemanticCodebook, config.semantic_entries, config.codebook_dim,
                config.latent_dim, Codebook::Use::kDecode),
      post_module_(weights, layout, "quantizer.post_module", config.post_module, 1) {
  for (int64_t i = 0; i < config.residual_codebooks; ++i) {
    residual_.emplace_back(weights, residual_codebook(i), config.residual_entries,
                           config.codebook_dim, config.latent_dim, Codebook::Use::kDecode);
  }
  // The mirror image of the downsampling: the last factor is undone first.
  const auto& factors = config.downsample_factor;
  for (size_t i = 0; i < factors.size(); ++i) {
    const int64_t factor = factors[factors.size() - 1 - i];
    const std::string module = concat("quantizer.upsample.", i);
    upsample_.push_back({CausalConvTranspose1d(weights, layout, concat(module, ".0"),
                                               {.in = config.latent_dim,
                                                .out = config.latent_dim,
                                                .kernel = factor,
                                                .stride = factor}),
                         ConvNeXt(weights, layout, concat(module, ".1"), config)});
  }
}

at::Tensor Dequantizer::look_up(const Pass& pass, const at::Tensor& codes) const {
  const auto decoded = [&](const Codebook& codebook, int64_t row, const std::string& module) {
    at::Tensor latent = codebook.decode(codes[row].clamp_max(codebook.entries() - 1));
    pass.note(module, ".out_proj", latent);
    return latent;
  };
  const at::Tensor semantic = decoded(semantic_, 0, kSemanticCodebook);
  pass.note("z_semantic", "", semantic);
  if (codes.size(0) == 1) return semantic;
  // Residuals first, in order, then the semantic part: the order of the sums is the reference's.
  at::Tensor residual = decoded(residual_[0], 1, residual_codebook(0));
  for (int64_t row = 2; row < codes.size(0); ++row) {
    residual = residual +
               decoded(residual_[static_cast<size_t>(row - 1)], row, residual_codebook(row - 1));
  }
  pass.note("z_residual", "", residual);
  return semantic + residual;
}

at::Tensor Dequantizer::forward(Pass& pass, const at::Tensor& codes) const {
  at::Tensor x = look_up(pass, codes);
  pass.note("z_sum", "", x);
  x = post_module_.forward(pass, x);
  for (const Upsample& stage : upsample_) {
    pass.check("codec upsampling");
    x = stage.refine.forward(pass, stage.widen.forward(pass, x));
  }
  return x;
}

}  // namespace remora::codec

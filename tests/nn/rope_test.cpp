#include "nn/rope.h"

#include "support/golden.h"

namespace remora::nn {
namespace {

using test::close;

TEST(Rope, TinyTablesAreExact) {
  const test::Golden cases("lm/s2pro_cases.safetensors");
  const at::Tensor slow = cases["rope.slow"];  // [positions, head_dim / 2, 2]
  EXPECT_TRUE(close(rope_table(0, slow.size(0), 2 * slow.size(1), 1e6), slow, 0));
  const at::Tensor fast = cases["rope.fast"];
  EXPECT_TRUE(close(rope_table(0, fast.size(0), 2 * fast.size(1), 1e6), fast, 0));
}

TEST(Rope, RealSizeTablesAreExact) {
  const test::Golden real("lm/rope_real_size.safetensors");
  for (const std::string model : {"s2pro", "s1mini"}) {
    const at::Tensor expected = real[model + ".slow"];
    const at::Tensor table = rope_table(0, 32768, 2 * expected.size(1), 1e6);
    EXPECT_TRUE(close(table.index_select(0, real[model + ".slow.pos"]), expected, 0)) << model;
    const at::Tensor fast = real[model + ".fast"];
    EXPECT_TRUE(close(rope_table(0, fast.size(0), 2 * fast.size(1), 1e6), fast, 0)) << model;
  }
}

TEST(Rope, CodecTablesAreExactFromAnyStart) {
  const test::Golden rope("codec/rope.safetensors");
  const at::Tensor positions = rope["positions"];
  for (const int64_t dim : {16, 64}) {
    const std::string suffix = "_d" + std::to_string(dim);
    for (int64_t i = 0; i < positions.numel(); ++i) {
      const at::Tensor row = rope_table(positions[i].item<int64_t>(), 1, dim, 1e4);
      EXPECT_TRUE(close(row.select(-1, 0)[0], rope["cos" + suffix][i], 0)) << "row " << i;
      EXPECT_TRUE(close(row.select(-1, 1)[0], rope["sin" + suffix][i], 0)) << "row " << i;
    }
  }
}

TEST(Rope, RotatesInterleavedPairs) {
  const test::Golden cases("lm/s2pro_cases.safetensors");
  const at::Tensor in = cases["rope.apply_in"];          // [seq, heads, head_dim]
  const at::Tensor positions = cases["rope.apply_pos"];  // [seq]
  const at::Tensor table = rope_table(0, 2560, in.size(-1), 1e6).index_select(0, positions);
  const at::Tensor out = rope_rotate(in.transpose(0, 1), table).transpose(0, 1);
  // Two products and a sum: the reference may fuse them.
  EXPECT_TRUE(close(out, cases["rope.apply_out"], 1e-6));
}

}  // namespace
}  // namespace remora::nn

#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdMatMul = PdTest;

TEST_F(PdMatMul, MatMulTransposesItsOperands) {
  EXPECT_EQ(Run<pd::MatMul>({X({1, 8, 300, 32}), X({1, 8, 300, 32})}, {.transpose_y = true}),
            "tensor<1x8x300x300xf32>");
  EXPECT_EQ(Run<pd::MatMul>({X({3, n}), X({3, 5})}, {.transpose_x = true}), "tensor<Nx5xf32>");
  EXPECT_EQ(Run<pd::MatMul>({X({3}), X({3})}, {.transpose_x = true, .transpose_y = true}),
            "tensor<f32>");
  EXPECT_EQ(Run<pd::MatMul>({X({2, 3}), X({3, 5})}, {.transpose_y = true}),
            "pd.matmul: x has 3 columns but y has 5 rows");
  EXPECT_EQ(Run<pd::FusedLinear>({X({n, 7, 3}), X({3, 5}), X({5})}), "tensor<Nx7x5xf32>");
  EXPECT_EQ(Run<pd::FusedLinear>({X({7, 4}), X({3, 5})}),
            "pd.fused_linear: x has 4 columns but y has 3 rows");
  EXPECT_EQ(Run<pd::FusedLinear>({X({7, 3}), X({3, 5}), X({4})}),
            "pd.fused_linear: bias is [4] but must be [5]");
}

TEST_F(PdMatMul, GradientsOfMatMulFollowItsTranspositions) {
  EXPECT_EQ(Run<pd::MatMulGrad>({X({3, n}), X({3, 5}), X({n, 5})}, {.transpose_x = true}, 2),
            "tensor<3xNxf32>, tensor<3x5xf32>");
  EXPECT_EQ(Run<pd::MatMulGrad>({X({2, 3}), X({3, 5}), X({5, 2})}, {}, 2),
            "pd.matmul_grad: out_grad is [5,2] but must be [2,5]");
  EXPECT_EQ(Run<pd::MatMulGrad>({X({2, 3}), X({3, 5}), X({2, 5})}, {.transpose_y = true}, 2),
            "pd.matmul_grad: x has 3 columns but y has 5 rows");
}

}  // namespace
}  // namespace weft::ir

#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdAttention = PdTest;

TEST_F(PdAttention, MultiheadMatmulHoldsThreeMatrices) {
  const Value x = X({n, 300, 256}), w = X({256, 3, 256}), bias = X({3, 256});
  const Value mask = X({1, 8, 300, 300});
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, bias, mask}, {.head_number = 8}),
            "tensor<Nx300x256xf32>");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, bias}, {.head_number = 7}),
            "pd.multihead_matmul: 256 columns of w do not split into 7 heads");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, X({128, 3, 256}), bias}, {.head_number = 8}),
            "pd.multihead_matmul: input has 256 columns but w has 128 rows");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, X({256, 2, 256}), bias}, {.head_number = 8}),
            "pd.multihead_matmul: w holds 2 matrices, not 3");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, X({256})}, {.head_number = 8}),
            "pd.multihead_matmul: bias is [256] but must be [3,256]");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({X({2, 300, 256}), w, bias, mask}, {.head_number = 4}),
            "pd.multihead_matmul: bias_qk [1,8,300,300] does not broadcast to [2,4,300,300]");
}

}  // namespace
}  // namespace weft::ir

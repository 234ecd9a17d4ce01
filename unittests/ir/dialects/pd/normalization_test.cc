#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdNormalization = PdTest;

TEST_F(PdNormalization, BatchNormHasSixResults) {
  const auto run = [&](Shape x, int64_t bias) {
    return Run<pd::BatchNorm>({X(x), X({64}), X({64}), X({64}), X({bias})}, {}, 6);
  };
  EXPECT_EQ(run({n, 64, 112, 112}, 64),
            "tensor<Nx64x112x112xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, "
            "tensor<64xf32>, tensor<*x?>");
  EXPECT_EQ(run({n, 64, 112, 112}, 63), "pd.batch_norm: bias is [63] but must be [64]");
}

TEST_F(PdNormalization, BatchNormGradIsOfDataScaleAndBias) {
  const auto run = [&](const Shape& grad, int64_t channels) {
    const Value c = X({channels}), x = X({n, 64, 7, 7});
    return Run<pd::BatchNormGrad>({x, c, c, c, c, c, c, X(grad)}, {}, 3);
  };
  EXPECT_EQ(run({n, 64, 7, 7}, 64), "tensor<Nx64x7x7xf32>, tensor<64xf32>, tensor<64xf32>");
  EXPECT_EQ(run({n, 64, 7, 7}, 63), "pd.batch_norm_grad: scale is [63] but must be [64]");
  EXPECT_EQ(run({n, 64, 7, 8}, 64),
            "pd.batch_norm_grad: out_grad is [\"N\",64,7,8] but must be [\"N\",64,7,7]");
}

TEST_F(PdNormalization, SoftmaxNeedsAnAxisOfItsOperand) {
  EXPECT_EQ(Run<pd::Softmax>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::Softmax>({X({2, 3})}, {.axis = 2}),
            "pd.softmax: axis 2 is out of range for rank 2");
}

TEST_F(PdNormalization, SoftmaxGradNeedsAnAxisOfTheResult) {
  EXPECT_EQ(Run<pd::SoftmaxGrad>({X({n, 3}), X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::SoftmaxGrad>({X({2, 3}), X({2, 3})}, {.axis = 2}),
            "pd.softmax_grad: axis 2 is out of range for rank 2");
}

}  // namespace
}  // namespace weft::ir

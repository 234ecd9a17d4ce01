#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdPool = PdTest;

TEST_F(PdPool, Pool2dReadsItsKernelFromAnOperand) {
  EXPECT_EQ(Run<pd::Pool2d>({X({n, 64, 112, 112}), Array({3, 3})},
                            {.paddings = {1, 1}, .strides = {2, 2}}),
            "tensor<Nx64x56x56xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({n, 64, 7, 7}), Array({1, 1})}, {.adaptive = true}),
            "tensor<Nx64x1x1xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 7, 7, 64}), X({2}, DataType::kI64)},
                            {.data_format = pd::DataFormat::kNhwc, .global_pooling = true}),
            "tensor<1x1x1x64xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), X({2}, DataType::kI64)}), "tensor<1x64x-1x-1xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), Array({3})}),
            "pd.pool2d: kernel_size has 1 entries but needs 2");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), Array({0, 1})}, {.adaptive = true}),
            "pd.pool2d: kernel_size has the entry 0");
}

TEST_F(PdPool, Pool2dGradFitsThePool) {
  const auto run = [&](const Shape& out, const Shape& grad) {
    return Run<pd::Pool2dGrad>({X({n, 64, 112, 112}), X(out), X(grad), Array({3, 3})},
                               {.paddings = {1, 1}, .strides = {2, 2}});
  };
  EXPECT_EQ(run({n, 64, 56, 56}, {n, 64, 56, 56}), "tensor<Nx64x112x112xf32>");
  EXPECT_EQ(run({n, 64, 55, 55}, {n, 64, 55, 55}),
            "pd.pool2d_grad: out is [\"N\",64,55,55] but must be [\"N\",64,56,56]");
  EXPECT_EQ(run({n, 64, 56, 56}, {n, 64, 55, 56}),
            "pd.pool2d_grad: out_grad is [\"N\",64,55,56] but must be [\"N\",64,56,56]");
}

}  // namespace
}  // namespace weft::ir

#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdConv = PdTest;

TEST_F(PdConv, Conv2dTakesPaddlesPaddings) {
  EXPECT_EQ(Run<pd::Conv2d>({X({n, 3, 224, 224}), X({64, 3, 7, 7})},
                            {.paddings = {3, 3}, .strides = {2, 2}}),
            "tensor<Nx64x112x112xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 5, 5, 3}), X({4, 3, 3, 3})},
                            {.data_format = pd::DataFormat::kNhwc, .paddings = {1, 0, 2, 1}}),
            "tensor<1x4x6x4xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 3, 3, 3})},
                            {.padding_algorithm = pd::PaddingAlgorithm::kSame}),
            "tensor<1x4x5x5xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 3, 3, 3})}, {.paddings = {1}}),
            "pd.conv2d: paddings has 1 entries but needs 2 or 4");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 2, 3, 3})}),
            "pd.conv2d: x has 3 channels but w reads 2 in each of 1 groups");
}

TEST_F(PdConv, Conv2dGradFitsTheConvolution) {
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({n, 3, 224, 224}), X({64, 3, 7, 7}), X({n, 64, 112, 112})},
                                {.paddings = {3, 3}, .strides = {2, 2}}, 2),
            "tensor<Nx3x224x224xf32>, tensor<64x3x7x7xf32>");
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({1, 3, 5, 5}), X({4, 3, 3, 3}), X({1, 4, 5, 5})}, {}, 2),
            "pd.conv2d_grad: out_grad is [1,4,5,5] but must be [1,4,3,3]");
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({1, 3, 5, 5}), X({4, 2, 3, 3}), X({1, 4, 3, 3})}, {}, 2),
            "pd.conv2d_grad: x has 3 channels but w reads 2 in each of 1 groups");
}

}  // namespace
}  // namespace weft::ir

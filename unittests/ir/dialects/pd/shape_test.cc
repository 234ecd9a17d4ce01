#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdShape = PdTest;

TEST_F(PdShape, ReshapeRemembersTheOldShape) {
  EXPECT_EQ(Run<pd::Reshape>({X({1, 300, 256}), Array({0, 0, 8, 32})}, {}, 2),
            "tensor<1x300x8x32xf32>, tensor<0x1x300x256xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({n, 6}), Array({-1, 2, 3})}, {}, 2),
            "tensor<Nx2x3xf32>, tensor<0xNx6xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({2}), X({2}, DataType::kI64)}, {}, 2),
            "tensor<*xf32>, tensor<0x2xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({2, 3}), Array({4})}, {}, 2),
            "pd.reshape: [2,3] does not fit shape [4]");
}

TEST_F(PdShape, FlattenJoinsARange) {
  EXPECT_EQ(Run<pd::Flatten>({X({n, 2048, 1, 1})}, {.start_axis = 1, .stop_axis = 3}, 2),
            "tensor<Nx2048xf32>, tensor<0xNx2048x1x1xf32>");
  EXPECT_EQ(Run<pd::Flatten>({X({2, 3})}, {.start_axis = 1, .stop_axis = 0}, 2),
            "pd.flatten: start_axis 1 is after stop_axis 0");
  EXPECT_EQ(Run<pd::Flatten>({X({2, 3})}, {.start_axis = 0, .stop_axis = 2}, 2),
            "pd.flatten: stop_axis 2 is out of range for rank 2");
}

TEST_F(PdShape, OldShapesComeFromXShape) {
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({0, n, 6}), X({n, 2, 3})}), "tensor<Nx6xf32>");
  EXPECT_EQ(Run<pd::FlattenGrad>({X({0, 2, 3}), X({6})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({1, 2, 3}), X({6})}),
            "pd.reshape_grad: xshape [1,2,3] does not begin with 0");
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({0, 2, 3}), X({7})}),
            "pd.reshape_grad: out_grad [7] does not fit xshape [0,2,3]");
}

}  // namespace
}  // namespace weft::ir

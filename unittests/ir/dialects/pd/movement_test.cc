#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdMovement = PdTest;

TEST_F(PdMovement, ExpandInfersNothingWhereTheListingBreaksTheRules) {
  EXPECT_EQ(Run<pd::Expand>({X({3, 1}), Array({2, -1, 4})}), "tensor<2x3x4xf32>");
  EXPECT_EQ(Run<pd::Expand>({X({n, 1}), Array({-1, 4})}), "tensor<Nx4xf32>");
  EXPECT_EQ(Run<pd::Expand>({X({4, 3, 16}), Array({4, 3, 16, 16})}), "tensor<*xf32>");
  // With the type that the seed's listing states it verifies.
  const Operation op = b.Create(
      OperationState{.opcode = kOpcodeOf<pd::Expand>,
                     .operands = {X({4, 3, 16}), Array({4, 3, 16, 16})},
                     .result_types = {context.TensorType(DataType::kF32, {4, 3, 16, 16})}});
  EXPECT_EQ(VerifyOperation(op).message(), "");
}

TEST_F(PdMovement, TransposePermutes) {
  EXPECT_EQ(Run<pd::Transpose>({X({16, 3, n, 5})}, {.perm = {0, 2, 1, 3}}), "tensor<16xNx3x5xf32>");
  EXPECT_EQ(Run<pd::Transpose>({X({16, 3})}, {.perm = {0}}),
            "pd.transpose: x has rank 2 but perm has 1 entries");
}

TEST_F(PdMovement, ConcatJoinsTheElementsOfAVector) {
  const Value parts = b.Make<CombineOp>({X({256, 256}), X({256, n}), X({256, 1})});
  EXPECT_EQ(Run<pd::Concat>({parts, Number(0, DataType::kI32)}),
            "pd.concat: input 2 [256,1] does not fit [256,256] along axis 0");
  EXPECT_EQ(Run<pd::Concat>({parts, Number(1, DataType::kI32)}), "tensor<256xN + 257xf32>");
  const Value same = b.Make<CombineOp>({X({256, 256}), X({256, 256})});
  EXPECT_EQ(Run<pd::Concat>({same, Number(0, DataType::kI32)}), "tensor<512x256xf32>");
  EXPECT_EQ(Run<pd::Concat>({same, X({1}, DataType::kI32)}), "tensor<*xf32>");
  EXPECT_EQ(Run<pd::Concat>({X({2}), Number(0)}), "pd.concat: x is tensor<2xf32>, not a vector");
  EXPECT_EQ(Run<pd::Concat>({same, Array({0, 1})}), "pd.concat: axis has 2 elements");
  EXPECT_EQ(Run<pd::Concat>({same, Number(0)}), "pd.concat: axis is no integer");
}

TEST_F(PdMovement, GradientsOfExpandAndConcat) {
  EXPECT_EQ(Run<pd::ExpandGrad>({X({3, 1}), Array({2, -1, 4}), X({2, 3, 4})}), "tensor<3x1xf32>");
  EXPECT_EQ(Run<pd::ExpandGrad>({X({3, 2}), Array({2, -1, 4}), X({2, 3, 4})}),
            "pd.expand_grad: x [3,2] does not broadcast to [2,3,4]");
  const Value parts = b.Make<CombineOp>({X({2, 3}), X({2, n})});
  EXPECT_EQ(Run<pd::ConcatGrad>({parts, Array({1}), X({2, 5})}),
            "vec[tensor<2x3xf32>,tensor<2xNxf32>]");
  EXPECT_EQ(Run<pd::ConcatGrad>({X({2}), Array({0}), X({2})}),
            "pd.concat_grad: x is tensor<2xf32>, not a vector");
}

}  // namespace
}  // namespace weft::ir

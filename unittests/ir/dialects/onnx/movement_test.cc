#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxMovement = InferTest;

TEST_F(OnnxMovement, ScatterNDKeepsTheTypeOfData) {
  EXPECT_EQ(Run<ops::ScatterND>({X({n, 5}), X({4, 1}, DataType::kI64), X({4, 5})}),
            "tensor<Nx5xf32>");
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5, 2}), X({2, 4, 2}, DataType::kI64), X({2, 4, 2})}),
            "tensor<3x5x2xf32>");
  EXPECT_EQ(Run<ops::ScatterND>({X({5}), Unranked(DataType::kI64), Unranked()}), "tensor<5xf32>");
}

TEST_F(OnnxMovement, ScatterNDChecksWhatItWrites) {
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5}), X({4, 1}, DataType::kI64), X({4, 3})}),
            "onnx.ScatterND: updates is [4,3] but must be [4,5]");
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5}), X({4, 3}, DataType::kI64), X({4})}),
            "onnx.ScatterND: indices [4,3] name 3 dimensions but data has rank 2");
  EXPECT_EQ(Run<ops::ScatterND>({X({3}), X({1, 1}), X({1})}),
            "onnx.ScatterND: indices is f32 but must be i64");
  EXPECT_EQ(Run<ops::ScatterND>({X({3}), I({1}), X({}, DataType::kI64)}),
            "onnx.ScatterND: data is f32 but updates is i64");
}

TEST_F(OnnxMovement, TransposePermutes) {
  EXPECT_EQ(Run<ops::Transpose>({X({n, 3, 4})}, {.perm = {2, 0, 1}}), "tensor<4xNx3xf32>");
  EXPECT_EQ(Run<ops::Transpose>({X({n, 3, 4})}), "tensor<4x3xNxf32>");
  EXPECT_EQ(Run<ops::Transpose>({Unranked()}, {.perm = {1, 0}}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Transpose>({X({2, 3})}, {.perm = {1, 0, 2}}),
            "onnx.Transpose: data has rank 2 but perm has 3 entries");
  EXPECT_EQ(Run<ops::Transpose>({X({2, 3})}, {.perm = {1, 1}}),
            "onnx.Transpose: perm [1,1] is no permutation");
  EXPECT_EQ(Run<ops::Transpose>({X({2, 3})}, {.perm = {0, -1}}),
            "onnx.Transpose: perm [0,-1] is no permutation");
}

TEST_F(OnnxMovement, ConcatAddsUpAlongItsAxis) {
  EXPECT_EQ(Run<ops::Concat>({X({2, 3}), X({2, 5}), X({2, 0})}, {.axis = -1}), "tensor<2x8xf32>");
  EXPECT_EQ(Run<ops::Concat>({X({n, 3}), X({kUnknownDim, 5})}, {.axis = 1}), "tensor<Nx8xf32>");
  EXPECT_EQ(Run<ops::Concat>({X({n, 3}), X({n, 3})}, {.axis = 0}), "tensor<2*Nx3xf32>");
  EXPECT_EQ(Run<ops::Concat>({X({n, 3}), X({0, 3})}, {.axis = 0}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Concat>({X({2, 3}), Unranked()}, {.axis = 0}), "tensor<-1x3xf32>");
  EXPECT_EQ(Run<ops::Concat>({X({2, 3}), X({3, 4})}, {.axis = 0}),
            "onnx.Concat: input 1 [3,4] does not fit [2,3] along axis 0");
  EXPECT_EQ(Run<ops::Concat>({X({2, 3}), X({2})}, {.axis = 0}),
            "onnx.Concat: input 1 [2] does not fit [2,3] along axis 0");
  EXPECT_EQ(Run<ops::Concat>({X({2, 3}), X({2, 3}, DataType::kI8)}, {.axis = 0}),
            "onnx.Concat: input 1 is i8 but the others are f32");
  EXPECT_EQ(Run<ops::Concat>({X({2, 3})}, {.axis = 2}),
            "onnx.Concat: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Concat>({}, {.axis = 0}), "onnx.Concat: has no operands");
  EXPECT_EQ(Run<ops::Concat>({X({INT64_MAX / 2}), X({INT64_MAX / 2}), X({2})}, {.axis = 0}),
            "onnx.Concat: the result is too large along axis 0");
}

TEST_F(OnnxMovement, SplitCutsAlongItsAxis) {
  EXPECT_EQ(Run<ops::Split>({X({6, n})}, {}, 3),
            "tensor<2xNxf32>, tensor<2xNxf32>, tensor<2xNxf32>");
  EXPECT_EQ(Run<ops::Split>({X({2, 6}), I({1, 5})}, {.axis = -1}, 2),
            "tensor<2x1xf32>, tensor<2x5xf32>");
  EXPECT_EQ(Run<ops::Split>({X({n, 2})}, {}, 2), "tensor<N//2x2xf32>, tensor<N//2x2xf32>");
  EXPECT_EQ(Run<ops::Split>({X({n, 2}), I({1, 2})}, {}, 2), "tensor<1x2xf32>, tensor<2x2xf32>");
  EXPECT_EQ(Run<ops::Split>({Unranked()}, {}, 2), "tensor<*xf32>, tensor<*xf32>");
  EXPECT_EQ(Run<ops::Split>({X({5})}, {}, 2),
            "onnx.Split: dimension 0 of [5] does not split into 2 equal parts");
  EXPECT_EQ(Run<ops::Split>({X({6}), I({1, 4})}, {}, 2),
            "onnx.Split: split adds up to 5 but dimension 0 of x is 6");
  EXPECT_EQ(Run<ops::Split>({X({6}), I({7, -1})}, {}, 2), "onnx.Split: split has the entry -1");
  EXPECT_EQ(Run<ops::Split>({X({6}), I({INT64_MAX, INT64_MAX})}, {}, 2),
            "onnx.Split: split [9223372036854775807,9223372036854775807] is too large");
  EXPECT_EQ(Run<ops::Split>({X({6}), I({1, 2, 3})}, {}, 2),
            "onnx.Split: split has 3 entries but results are 2");
  EXPECT_EQ(Run<ops::Split>({X({7})}, {.num_outputs = 3}, 3),
            "tensor<3xf32>, tensor<3xf32>, tensor<1xf32>");
  EXPECT_EQ(Run<ops::Split>({X({7})}, {.num_outputs = 1}, 2),
            "onnx.Split: num_outputs is 1 but there are 2 results");
  EXPECT_EQ(Run<ops::Split>({X({5})}, {.num_outputs = 4}, 4),
            "tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<0xf32>");
  EXPECT_EQ(Run<ops::Split>({X({6}), I({3, 3})}, {.num_outputs = 2}, 2),
            "onnx.Split: has both split and num_outputs");
  EXPECT_EQ(Run<ops::Split>({X({6})}, {.axis = 1}, 2),
            "onnx.Split: axis 1 is out of range for rank 1");
  const std::string many = Run<ops::Split>({X({100}), b.ConstantInts(Ints(100, 1))}, {}, 100);
  EXPECT_EQ(many.find_first_not_of("tensor<1xf32>, "), std::string::npos) << many;
}

TEST_F(OnnxMovement, SliceCountsItsElements) {
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), I({1}), I({5})}), "tensor<4x9xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), I({0}), I({-1}), I({-1})}), "tensor<8x8xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), I({1, 0}), I({INT64_MAX, 9}), I({1, 0}), I({3, 2})}),
            "tensor<4x3xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({-1}), I({INT64_MIN}), I({0}), I({-1})}), "tensor<8xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({7}), I({0}), I({0}), I({-3})}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({7}), I({0}), I({0}), I({INT64_MIN})}), "tensor<1xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({5}), I({2})}), "tensor<0xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({0}), I({-1}), I({INT64_MIN}), I({0}), I({-1})}), "tensor<0xf32>");
}

// As the standard has it: backwards, a start before the first element is the first.
TEST_F(OnnxMovement, SliceBackwardsBeginsWithinTheDimension) {
  EXPECT_EQ(Run<ops::Slice>({X({5}), I({-6}), I({INT64_MIN}), I({0}), I({-1})}), "tensor<1xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({5}), I({-9}), I({-8}), I({0}), I({-1})}), "tensor<1xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({5}), I({-9}), I({0}), I({0}), I({-1})}), "tensor<0xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({-9}), I({-8}), I({0}), I({-1})}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({3}), I({4}), I({0}), I({-1})}), "tensor<0xf32>");
}

TEST_F(OnnxMovement, SliceKeepsWhatItDoesNotTouch) {
  EXPECT_EQ(Run<ops::Slice>({X({n, 9}), I({1}), I({5}), I({1})}), "tensor<Nx4xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n, 9}), I({0}), I({INT64_MAX})}), "tensor<Nx9xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n, 9}), I({1}), I({INT64_MAX})}), "tensor<max(1, N) - 1x9xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), X({1}, DataType::kI64), I({5})}), "tensor<-1x9xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), X({n}, DataType::kI64), I({5})}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({8, 9}), I({1}), I({5}), X({1}, DataType::kI64)}),
            "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Slice>({Unranked(), I({1}), I({5})}), "tensor<*xf32>");
}

TEST_F(OnnxMovement, SliceKnowsThatItIsEmptyWithoutKnowingTheSize) {
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({3}), I({3})}), "tensor<0xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({-2}), I({-3})}), "tensor<0xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({2}), I({5}), I({0}), I({-1})}), "tensor<0xf32>");
  EXPECT_EQ(Run<ops::Slice>({X({n}), I({-1}), I({3})}),
            "tensor<max(-max(1, N) + min(3, N) + 1, 0)xf32>");
}

TEST_F(OnnxMovement, SliceNamesWhatDoesNotFit) {
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({1}), I({5}), I({1})}),
            "onnx.Slice: axis 1 is out of range for rank 1");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({1}), I({5}), I({0}), I({0})}),
            "onnx.Slice: steps has the entry 0");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({1}), I({5, 6})}),
            "onnx.Slice: ends has 2 entries but starts are 1");
  EXPECT_EQ(Run<ops::Slice>({X({8, 8}), I({1, 1}), I({5, 6}), I({1, -1})}),
            "onnx.Slice: axis 1 is given twice");
  EXPECT_EQ(Run<ops::Slice>({X({8}), Scalar(1, DataType::kI64), I({5})}),
            "onnx.Slice: starts has rank 0 but must have 1");
  EXPECT_EQ(Run<ops::Slice>({X({8}), X({1}), I({5})}),
            "onnx.Slice: starts is f32 but must be i32 or i64");
  EXPECT_EQ(Run<ops::Slice>({X({8}), I({1}), I({5}), I({0}), X({1}, DataType::kI8)}),
            "onnx.Slice: steps is i8 but must be i32 or i64");
}

TEST_F(OnnxMovement, GatherPutsTheIndicesShapeInPlaceOfTheAxis) {
  EXPECT_EQ(Run<ops::Gather>({X({5, n, 4}), X({2, 3}, DataType::kI64)}, {.axis = 1}),
            "tensor<5x2x3x4xf32>");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), Scalar(-5, DataType::kI64)}), "tensor<4xf32>");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), X({n}, DataType::kI32)}), "tensor<Nx4xf32>");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), Unranked(DataType::kI64)}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), I({1, 5})}),
            "onnx.Gather: index 5 is out of range for dimension 0 of [5,4]");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), I({0})}, {.axis = 2}),
            "onnx.Gather: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Gather>({X({5, 4}), X({1})}),
            "onnx.Gather: indices is f32 but must be i32 or i64");
}

TEST_F(OnnxMovement, PadAddsABorder) {
  EXPECT_EQ(Run<ops::Pad>({X({n, 3}), I({0, 1, 0, 2}), Scalar(0)}), "tensor<Nx6xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({n, 3}), I({1, -1, 0, -2})}), "tensor<N + 1x0xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({2, 3}), X({4}, DataType::kI64)}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({2, 2})}, {.mode = ops::PadMode::kReflect}), "tensor<7xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({9, 9})}, {.mode = ops::PadMode::kWrap}), "tensor<21xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({2, n, 3}), I({1, 2}), Scalar(0), I({-1})}), "tensor<2xNx6xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({2, 3}), I({1, 2}), Scalar(0), X({1}, DataType::kI64)}),
            "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Pad>({X({2, 3}), I({1, 2, 3, 4}), Scalar(0), I({0, -2})}),
            "onnx.Pad: axis 0 is given twice");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({3, 0})}, {.mode = ops::PadMode::kReflect}),
            "onnx.Pad: pads 3 and 0 reflect more than dimension 0 of [3] has");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({0, -4})}),
            "onnx.Pad: pads 0 and -4 do not fit dimension 0 of [3]");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({INT64_MAX, 1})}),
            "onnx.Pad: pads 9223372036854775807 and 1 do not fit dimension 0 of [3]");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({1})}),
            "onnx.Pad: pads has 1 entries but begins and ends are 2");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({1, 1}), X({2})}),
            "onnx.Pad: constant_value is [2], not a scalar");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({1, 1}), Scalar(0, DataType::kI64)}),
            "onnx.Pad: data is f32 but constant_value is i64");
  EXPECT_EQ(Run<ops::Pad>({X({3}), I({1, 0}), Scalar(0), X({1})}),
            "onnx.Pad: axes is f32 but must be i32 or i64");
}

TEST_F(OnnxMovement, ExpandBroadcasts) {
  EXPECT_EQ(Run<ops::Expand>({X({3, 1}), I({2, 1, 4})}), "tensor<2x3x4xf32>");
  EXPECT_EQ(Run<ops::Expand>({X({n, 1}), I({1, 4})}), "tensor<Nx4xf32>");
  EXPECT_EQ(Run<ops::Expand>({X({3}), X({2}, DataType::kI64)}), "tensor<-1x3xf32>");
  EXPECT_EQ(Run<ops::Expand>({X({3}), I({2})}),
            "onnx.Expand: x [3] and shape [2] do not broadcast");
  EXPECT_EQ(Run<ops::Expand>({X({3}), I({-1})}), "onnx.Expand: shape has the entry -1");
}

TEST_F(OnnxMovement, TileMultiplies) {
  EXPECT_EQ(Run<ops::Tile>({X({2, n}), I({3, 1})}), "tensor<6xNxf32>");
  EXPECT_EQ(Run<ops::Tile>({X({2, n}), I({0, 2})}), "tensor<0x2*Nxf32>");
  EXPECT_EQ(Run<ops::Tile>({X({1, 0}), X({2}, DataType::kI64)}), "tensor<-1x0xf32>");
  EXPECT_EQ(Run<ops::Tile>({X({2, 3}), I({1})}),
            "onnx.Tile: repeats has 1 entries but dimensions of x are 2");
  EXPECT_EQ(Run<ops::Tile>({X({2}), I({-1})}), "onnx.Tile: repeats has the entry -1");
  EXPECT_EQ(Run<ops::Tile>({X({3}), I({INT64_MAX})}),
            "onnx.Tile: the result is too large in dimension 0");
}

}  // namespace
}  // namespace weft::ir

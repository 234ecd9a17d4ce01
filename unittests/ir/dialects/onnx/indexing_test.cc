#include "ir/dialects/onnx/indexing.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxIndexing = InferTest;

TEST_F(OnnxIndexing, GatherElementsHasTheShapeOfItsIndices) {
  EXPECT_EQ(Run<ops::GatherElements>({X({3, n}), X({5, n}, DataType::kI64)}), "tensor<5xNxf32>");
  EXPECT_EQ(Run<ops::GatherElements>({Unranked(), X({5, 2}, DataType::kI32)}, {.axis = 1}),
            "tensor<5x2xf32>");
  EXPECT_EQ(Run<ops::GatherElements>({X({3, 4}), X({5, 9}, DataType::kI64)}),
            "onnx.GatherElements: indices [5,9] is larger than data [3,4]");
  EXPECT_EQ(Run<ops::GatherElements>({X({3, 4}), X({5}, DataType::kI64)}),
            "onnx.GatherElements: indices has rank 1 but data has rank 2");
  EXPECT_EQ(Run<ops::GatherElements>({X({3}), X({5})}),
            "onnx.GatherElements: indices is f32 but must be i32 or i64");
  EXPECT_EQ(Run<ops::GatherElements>({X({3}), X({5}, DataType::kI64)}, {.axis = 1}),
            "onnx.GatherElements: axis 1 is out of range for rank 1");
}

TEST_F(OnnxIndexing, GatherNDTakesSlicesOfEachBatch) {
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4, 5}), X({7, 2}, DataType::kI64)}), "tensor<7x5xf32>");
  EXPECT_EQ(
      Run<ops::GatherND>({X({n, 4, 5}), X({kUnknownDim, 7, 1}, DataType::kI64)}, {.batch_dims = 1}),
      "tensor<Nx7x5xf32>");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({7, n}, DataType::kI64)}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({7, 3}, DataType::kI64)}),
            "onnx.GatherND: indices [7,3] name 3 dimensions but data [3,4] has 2");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({7, 0}, DataType::kI64)}),
            "onnx.GatherND: indices [7,0] name 0 dimensions but data [3,4] has 2");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({2, 1}, DataType::kI64)}, {.batch_dims = 1}),
            "onnx.GatherND: dimension 0 of indices [2,1] is not that of data [3,4]");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({3, 1}, DataType::kI64)}, {.batch_dims = 2}),
            "onnx.GatherND: batch_dims is 2");
  EXPECT_EQ(Run<ops::GatherND>({X({3, 4}), X({3, 1}, DataType::kI64)}, {.batch_dims = -1}),
            "onnx.GatherND: batch_dims is -1");
}

TEST_F(OnnxIndexing, ScatterElementsKeepsTheTypeOfData) {
  EXPECT_EQ(Run<ops::ScatterElements>({X({n, 5}), X({2, 5}, DataType::kI64), X({2, 5})}),
            "tensor<Nx5xf32>");
  EXPECT_EQ(Run<ops::ScatterElements>({X({3, 5}), X({2, 5}, DataType::kI64), X({2, 4})}),
            "onnx.ScatterElements: updates is [2,4] but must be [2,5]");
  EXPECT_EQ(Run<ops::ScatterElements>({X({3, 5}), X({9, 6}, DataType::kI64), X({9, 6})}),
            "onnx.ScatterElements: indices [9,6] is larger than data [3,5]");
  EXPECT_EQ(Run<ops::ScatterElements>({X({3}), X({3}, DataType::kI64), X({3}, DataType::kF64)}),
            "onnx.ScatterElements: data is f32 but updates is f64");
  EXPECT_EQ(Run<ops::ScatterElements>(
                {X({3}, DataType::kBool), X({3}, DataType::kI64), X({3}, DataType::kBool)},
                {.reduction = ops::ScatterReduction::kAdd}),
            "onnx.ScatterElements: data is bool but must be a number");
}

TEST_F(OnnxIndexing, TensorScatterKeepsTheTypeOfTheCache) {
  const Value cache = X({2, 3, 8, 5});
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 3, 4, 5})}), "tensor<2x3x8x5xf32>");
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 3, n, 5}), X({2}, DataType::kI64)}),
            "tensor<2x3x8x5xf32>");
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 3, 9, 5})}),
            "onnx.TensorScatter: update is [2,3,9,5] but must be [2,3,8,5]");
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 2, 4, 5})}),
            "onnx.TensorScatter: update is [2,2,4,5] but must be [2,3,4,5]");
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 3, 4, 5}), X({3}, DataType::kI64)}),
            "onnx.TensorScatter: write_indices is [3] but must be [2]");
  EXPECT_EQ(Run<ops::TensorScatter>({cache, X({2, 3, 4, 5})}, {.axis = 0}),
            "onnx.TensorScatter: axis is 0, the batch");
}

TEST_F(OnnxIndexing, OneHotInsertsADimensionOfItsDepth) {
  const Value values = X({2});
  EXPECT_EQ(Run<ops::OneHot>({X({n, 3}, DataType::kI64), Scalar(7, DataType::kI64), values}),
            "tensor<Nx3x7xf32>");
  EXPECT_EQ(Run<ops::OneHot>({X({n, 3}), Scalar(7.5), values}, {.axis = 0}), "tensor<7xNx3xf32>");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), X({}, DataType::kI64), values}, {.axis = -2}),
            "tensor<-1x3xf32>");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), I({-1}), values}), "onnx.OneHot: depth is -1");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), Scalar(-2), values}), "onnx.OneHot: depth is -2");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), I({1, 2}), values}),
            "onnx.OneHot: depth is [2], not a scalar");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), I({1}), values}, {.axis = 2}),
            "onnx.OneHot: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::OneHot>({X({3}), I({1}), X({3})}),
            "onnx.OneHot: values has 3 entries but off and on are 2");
}

TEST_F(OnnxIndexing, TriluAndReverseSequenceKeepTheirType) {
  EXPECT_EQ(Run<ops::Trilu>({X({n, 3, 4}), X({}, DataType::kI64)}), "tensor<Nx3x4xf32>");
  EXPECT_EQ(Run<ops::Trilu>({X({3})}), "onnx.Trilu: x has rank 1 but must have 2 or more");
  EXPECT_EQ(Run<ops::Trilu>({X({3, 3}), X({})}), "onnx.Trilu: k is f32 but must be i64");
  EXPECT_EQ(Run<ops::ReverseSequence>({X({n, 3, 4}), X({3}, DataType::kI64)}), "tensor<Nx3x4xf32>");
  EXPECT_EQ(Run<ops::ReverseSequence>({X({2, 3}), X({3}, DataType::kI64)},
                                      {.batch_axis = 0, .time_axis = 1}),
            "onnx.ReverseSequence: sequence_lens is [3] but must be [2]");
  EXPECT_EQ(Run<ops::ReverseSequence>({X({2, 3}), X({3}, DataType::kI64)}, {.batch_axis = 0}),
            "onnx.ReverseSequence: batch_axis is 0 and time_axis 0, but one is 0 and the other 1");
}

TEST_F(OnnxIndexing, BlocksMoveBetweenChannelsAndTheImage) {
  EXPECT_EQ(Run<ops::DepthToSpace>({X({n, 8, 2, 3})}, {.blocksize = 2}), "tensor<Nx2x4x6xf32>");
  EXPECT_EQ(Run<ops::SpaceToDepth>({X({n, 2, 4, 6})}, {.blocksize = 2}), "tensor<Nx8x2x3xf32>");
  EXPECT_EQ(Run<ops::SpaceToDepth>({X({1, n, 4, m})}, {.blocksize = 2}),
            "tensor<1x4*Nx2xM//2xf32>");
  EXPECT_EQ(Run<ops::DepthToSpace>({X({1, 6, 2, 3})}, {.blocksize = 2}),
            "onnx.DepthToSpace: dimension 1 of x [1,6,2,3] is no multiple of 4");
  EXPECT_EQ(Run<ops::SpaceToDepth>({X({1, 1, 4, 5})}, {.blocksize = 2}),
            "onnx.SpaceToDepth: dimension 3 of x [1,1,4,5] is no multiple of 2");
  for (const int64_t bad : {int64_t{0}, int64_t{1} << 40})
    EXPECT_EQ(Run<ops::DepthToSpace>({X({1, 4, 2, 2})}, {.blocksize = bad}),
              "onnx.DepthToSpace: blocksize is " + std::to_string(bad));
}

TEST_F(OnnxIndexing, CenterCropPadTakesSizesOfSomeAxes) {
  EXPECT_EQ(Run<ops::CenterCropPad>({X({n, 5}), I({3, 7})}), "tensor<3x7xf32>");
  EXPECT_EQ(Run<ops::CenterCropPad>({X({n, 5, 6}), I({3})}, {.axes = Ints{-1}}),
            "tensor<Nx5x3xf32>");
  EXPECT_EQ(Run<ops::CenterCropPad>({X({n, 5}), X({2}, DataType::kI64)}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::CenterCropPad>({X({4, 5}), I({3, -7})}),
            "onnx.CenterCropPad: shape has the entry -7");
  EXPECT_EQ(Run<ops::CenterCropPad>({X({4, 5}), I({3})}),
            "onnx.CenterCropPad: shape has 1 entries but axes are 2");
  EXPECT_EQ(Run<ops::CenterCropPad>({X({4, 5}), I({3})}, {.axes = Ints{2}}),
            "onnx.CenterCropPad: axis 2 is out of range for rank 2");
}

TEST_F(OnnxIndexing, WhatValuesDecideIsNotKnown) {
  const Value condition = X({4}, DataType::kBool);
  EXPECT_EQ(Run<ops::Compress>({X({3, 5}), condition}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Compress>({X({n, 5}), condition}, {.axis = -1}), "tensor<Nx-1xf32>");
  EXPECT_EQ(Run<ops::Compress>({X({3}), X({4})}),
            "onnx.Compress: condition is f32 but must be bool");
  EXPECT_EQ(Run<ops::Compress>({X({3}), condition}, {.axis = 1}),
            "onnx.Compress: axis 1 is out of range for rank 1");
  EXPECT_EQ(Run<ops::NonZero>({X({3, 5})}), "tensor<2x-1xi64>");
  EXPECT_EQ(Run<ops::NonZero>({X({})}), "tensor<0x-1xi64>");
  EXPECT_EQ(Run<ops::NonZero>({Unranked()}), "tensor<-1x-1xi64>");
  EXPECT_EQ(Run<ops::Unique>({X({3, 5})}, {}, 4),
            "tensor<-1xf32>, tensor<-1xi64>, tensor<15xi64>, tensor<-1xi64>");
  EXPECT_EQ(Run<ops::Unique>({X({3, 5})}, {.axis = 1}, 3),
            "tensor<3x-1xf32>, tensor<-1xi64>, tensor<5xi64>");
  EXPECT_EQ(Run<ops::Unique>({X({3})}, {.axis = 1}),
            "onnx.Unique: axis 1 is out of range for rank 1");
}

TEST_F(OnnxIndexing, NonMaxSuppressionChecksBoxesAndScores) {
  const Value boxes = X({1, n, 4}), scores = X({1, 3, n});
  EXPECT_EQ(Run<ops::NonMaxSuppression>({boxes, scores}), "tensor<-1x3xi64>");
  EXPECT_EQ(Run<ops::NonMaxSuppression>({X({1, 6, 5}), scores}),
            "onnx.NonMaxSuppression: boxes [1,6,5] have no four numbers");
  EXPECT_EQ(Run<ops::NonMaxSuppression>({X({1, 6, 4}), X({1, 2, 7})}),
            "onnx.NonMaxSuppression: scores [1,2,7] do not fit boxes [1,6,4]");
  EXPECT_EQ(Run<ops::NonMaxSuppression>({boxes, scores, X({})}),
            "onnx.NonMaxSuppression: max_output_boxes_per_class is f32 but must be i64");
  EXPECT_EQ(Run<ops::NonMaxSuppression>({boxes, scores}, {.center_point_box = 2}),
            "onnx.NonMaxSuppression: center_point_box is 2");
}

}  // namespace
}  // namespace weft::ir

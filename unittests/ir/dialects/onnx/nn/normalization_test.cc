#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxNormalization = InferTest;

TEST_F(OnnxNormalization, BatchNormalizationHasOneStatisticPerChannel) {
  const auto run = [&](Value x, int64_t scale, int64_t var, size_t results) {
    return Run<ops::BatchNormalization>({x, X({scale}), X({4}), X({4}), X({var})}, {}, results);
  };
  EXPECT_EQ(run(X({n, 4, 5, 5}), 4, 4, 1), "tensor<Nx4x5x5xf32>");
  EXPECT_EQ(run(Unranked(), 4, 4, 3), "tensor<*xf32>, tensor<4xf32>, tensor<4xf32>");
  EXPECT_EQ(run(X({1, 4, 5}), 3, 4, 1), "onnx.BatchNormalization: scale is [3] but must be [4]");
  EXPECT_EQ(run(Unranked(), 4, 3, 1), "onnx.BatchNormalization: input_var is [3] but must be [4]");
  EXPECT_EQ(run(X({4}), 4, 4, 1), "onnx.BatchNormalization: x has rank 1 but must have 2 or more");
  EXPECT_EQ(run(X({1, 4}, DataType::kI8), 4, 4, 1),
            "onnx.BatchNormalization: x is i8 but must be a float");
}

TEST_F(OnnxNormalization, InstanceNormalizationHasOneScalePerChannel) {
  const auto run = [&](Value x, int64_t scale, int64_t bias) {
    return Run<ops::InstanceNormalization>({x, X({scale}), X({bias})});
  };
  EXPECT_EQ(run(X({n, 4, 5, 5}), 4, 4), "tensor<Nx4x5x5xf32>");
  EXPECT_EQ(run(Unranked(), 4, 4), "tensor<*xf32>");
  EXPECT_EQ(run(X({1, 4, 5}), 3, 4), "onnx.InstanceNormalization: scale is [3] but must be [4]");
  EXPECT_EQ(run(Unranked(), 4, 3), "onnx.InstanceNormalization: b is [3] but must be [4]");
  EXPECT_EQ(run(X({1, 4}), 4, 4),
            "onnx.InstanceNormalization: x has rank 2 but must have 3 or more");
}

TEST_F(OnnxNormalization, LayerNormalizationNormalizesTheLastDimensions) {
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, 3, 8}), X({8}), X({8})}), "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, 3, 8}), X({3, 8})}, {.axis = 1}, 3),
            "tensor<Nx3x8xf32>, tensor<Nx1x1xf32>, tensor<Nx1x1xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({7})}),
            "onnx.LayerNormalization: scale [7] does not broadcast to [2,8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8}), X({2, 2, 8})}),
            "onnx.LayerNormalization: b [2,2,8] does not broadcast to [2,8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({2, 1}), X({2, 8})}), "tensor<2x8xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, -1}), X({8})}), "tensor<Nx8xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, -1}), X({8}), X({7})}),
            "onnx.LayerNormalization: b [7] does not broadcast to [\"N\",8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8})}, {.axis = 2}),
            "onnx.LayerNormalization: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8})}, {.stash_type = 7}),
            "onnx.LayerNormalization: stash_type 7 is no float type");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}, DataType::kI64), X({8})}),
            "onnx.LayerNormalization: x is i64 but must be a float");
}

TEST_F(OnnxNormalization, SoftmaxNeedsAnAxisOfItsOperand) {
  EXPECT_EQ(Run<ops::Softmax>({X({n, 3})}, {.axis = -2}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Softmax>({X({2, 3})}, {.axis = 2}),
            "onnx.Softmax: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Softmax>({X({2, 3}, DataType::kI64)}),
            "onnx.Softmax: x is i64 but must be a float");
}

TEST_F(OnnxNormalization, WhatNormalizesAlongAnAxisNeedsOneOfItsOperand) {
  const auto run = [&](auto op) {
    using O = decltype(op);
    const std::string name(O::kInfo.name);
    EXPECT_EQ(Run<O>({X({n, 3})}, {.axis = -2}), "tensor<Nx3xf32>");
    EXPECT_EQ(Run<O>({X({2, 3})}, {.axis = 2}), name + ": axis 2 is out of range for rank 2");
    EXPECT_EQ(Run<O>({X({2}, DataType::kI64)}), name + ": x is i64 but must be a float");
  };
  run(ops::LogSoftmax());
  run(ops::Hardmax());
  run(ops::LpNormalization());
  EXPECT_EQ(Run<ops::LpNormalization>({X({2})}, {.p = 3}),
            "onnx.LpNormalization: p is 3 but must be 1 or 2");
}

TEST_F(OnnxNormalization, LrnCountsChannels) {
  EXPECT_EQ(Run<ops::LRN>({X({n, 3, 4})}, {.size = 5}), "tensor<Nx3x4xf32>");
  EXPECT_EQ(Run<ops::LRN>({X({n, 3, 4})}, {.size = 0}),
            "onnx.LRN: size is 0 but must be 1 or more");
  EXPECT_EQ(Run<ops::LRN>({X({3})}, {.size = 1}), "onnx.LRN: x has rank 1 but must have 2 or more");
  EXPECT_EQ(Run<ops::LRN>({X({2, 3}, DataType::kI8)}, {.size = 1}),
            "onnx.LRN: x is i8 but must be a float");
}

TEST_F(OnnxNormalization, MeanVarianceNormalizationNeedsItsAxes) {
  EXPECT_EQ(Run<ops::MeanVarianceNormalization>({X({n, 3, 4, 5})}), "tensor<Nx3x4x5xf32>");
  EXPECT_EQ(Run<ops::MeanVarianceNormalization>({X({2})}, {.axes = Ints()}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::MeanVarianceNormalization>({X({2, 3})}),
            "onnx.MeanVarianceNormalization: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::MeanVarianceNormalization>({X({2, 3})}, {.axes = {1, -1}}),
            "onnx.MeanVarianceNormalization: axis 1 is given twice");
  EXPECT_EQ(Run<ops::MeanVarianceNormalization>({X({2}, DataType::kI8)}, {.axes = {0}}),
            "onnx.MeanVarianceNormalization: x is i8 but must be a float");
}

TEST_F(OnnxNormalization, GroupNormalizationHasOneScalePerChannel) {
  const auto run = [&](Value x, int64_t scale, int64_t bias, int64_t groups) {
    return Run<ops::GroupNormalization>({x, X({scale}), X({bias})}, {.num_groups = groups});
  };
  EXPECT_EQ(run(X({n, 4, 5}), 4, 4, 2), "tensor<Nx4x5xf32>");
  EXPECT_EQ(run(Unranked(), 4, 4, 4), "tensor<*xf32>");
  EXPECT_EQ(run(X({n, 4, 5}), 2, 2, 2), "onnx.GroupNormalization: scale is [2] but must be [4]");
  EXPECT_EQ(run(Unranked(), 4, 3, 2), "onnx.GroupNormalization: b is [3] but must be [4]");
  EXPECT_EQ(run(X({n, 4}), 4, 4, 3),
            "onnx.GroupNormalization: x has 4 channels, which are no 3 groups");
  EXPECT_EQ(run(X({n, 4}), 4, 4, 0),
            "onnx.GroupNormalization: num_groups is 0 but must be 1 or more");
  EXPECT_EQ(run(X({4}), 4, 4, 1), "onnx.GroupNormalization: x has rank 1 but must have 2 or more");
  EXPECT_EQ(
      Run<ops::GroupNormalization>({X({1, 4}), X({4}), X({4})}, {.num_groups = 1, .stash_type = 7}),
      "onnx.GroupNormalization: stash_type 7 is no float type");
}

TEST_F(OnnxNormalization, RmsNormalizationHasTheTypeOfItsScale) {
  EXPECT_EQ(Run<ops::RMSNormalization>({X({n, 3, 8}), X({8})}), "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ops::RMSNormalization>({X({2, 8}, DataType::kF16), X({2, 1})}, {.axis = 0}),
            "tensor<2x8xf32>");
  EXPECT_EQ(Run<ops::RMSNormalization>({X({2, 8}), X({7})}),
            "onnx.RMSNormalization: scale [7] does not broadcast to [2,8]");
  EXPECT_EQ(Run<ops::RMSNormalization>({X({2, 8}), X({8})}, {.axis = -3}),
            "onnx.RMSNormalization: axis -3 is out of range for rank 2");
  EXPECT_EQ(Run<ops::RMSNormalization>({X({2, 8}), X({8})}, {.stash_type = 2}),
            "onnx.RMSNormalization: stash_type 2 is no float type");
  EXPECT_EQ(Run<ops::RMSNormalization>({X({2}, DataType::kI8), X({2})}),
            "onnx.RMSNormalization: x is i8 but must be a float");
}

}  // namespace
}  // namespace weft::ir

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
            "onnx.LayerNormalization: scale [7] does not broadcast to [8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8}), X({2, 8})}),
            "onnx.LayerNormalization: b [2,8] does not broadcast to [8]");
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

}  // namespace
}  // namespace weft::ir

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxReduce = InferTest;

TEST_F(OnnxReduce, TopKShortensItsAxis) {
  EXPECT_EQ(Run<ops::TopK>({X({n, 5}), I({2})}, {}, 2), "tensor<Nx2xf32>, tensor<Nx2xi64>");
  EXPECT_EQ(Run<ops::TopK>({X({5, n}, DataType::kI8), I({2})}, {.axis = -2}, 2),
            "tensor<2xNxi8>, tensor<2xNxi64>");
  EXPECT_EQ(Run<ops::TopK>({X({5}), X({1}, DataType::kI64)}, {}, 2),
            "tensor<-1xf32>, tensor<-1xi64>");
  EXPECT_EQ(Run<ops::TopK>({Unranked(), I({2})}, {}, 2), "tensor<*xf32>, tensor<*xi64>");
}

TEST_F(OnnxReduce, TopKTakesNoMoreThanThereIs) {
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({3})}, {}, 2), "tensor<2x3xf32>, tensor<2x3xi64>");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({4})}, {}, 2), "onnx.TopK: k is 4 but x is [2,3]");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({-1})}, {}, 2), "onnx.TopK: k is -1 but x is [2,3]");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({1, 2})}, {}, 2), "onnx.TopK: k is [2], not a scalar");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), X({1})}, {}, 2), "onnx.TopK: k is f32 but must be i64");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({1})}, {.axis = 2}, 2),
            "onnx.TopK: axis 2 is out of range for rank 2");
}

TEST_F(OnnxReduce, ReductionsKeepOrDropDimensions) {
  EXPECT_EQ(Run<ops::ReduceMean>({X({n, 3, 8})}, {.axes = {-1}}), "tensor<Nx3x1xf32>");
  EXPECT_EQ(Run<ops::ReduceMax>({X({n, 3, 8})}, {.axes = {0, 2}, .keepdims = 0}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::ReduceMin>({X({n, 3})}), "tensor<1x1xf32>");
  EXPECT_EQ(Run<ops::ReduceMin>({Unranked()}, {.keepdims = 0}), "tensor<f32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({n, 3, 8}), I({1})}), "tensor<Nx1x8xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({n, 3})}, {.keepdims = 0, .noop_with_empty_axes = 1}),
            "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2, 1, 8}), X({2}, DataType::kI64)}), "tensor<-1x1x-1xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2, 8}), X({1}, DataType::kI64)}, {.keepdims = 0}),
            "tensor<*xf32>");
  EXPECT_EQ(Run<ops::ReduceMean>({X({2, 3})}, {.axes = {2}}),
            "onnx.ReduceMean: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::ReduceMean>({X({2, 3})}, {.axes = {1, -1}}),
            "onnx.ReduceMean: axis 1 is given twice");
  EXPECT_EQ(Run<ops::ReduceMax>({X({2}, DataType::kBool)}), "tensor<1xbool>");
  EXPECT_EQ(Run<ops::ReduceProd>({X({2}, DataType::kBool)}),
            "onnx.ReduceProd: x is bool but must be a number");
  EXPECT_EQ(Run<ops::ReduceL2>({X({2, 3}), I({1})}, {.axes = {0}}),
            "onnx.ReduceL2: axes are given as operand and as attribute");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2}), X({1})}), "onnx.ReduceSum: axes is f32 but must be i64");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2}), X({1, 1}, DataType::kI64)}),
            "onnx.ReduceSum: axes has rank 2 but must have 0 to 1");
}

}  // namespace
}  // namespace weft::ir

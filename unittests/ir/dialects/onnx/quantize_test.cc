#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxQuantize = InferTest;

TEST_F(OnnxQuantize, TheZeroPointDecidesTheElementType) {
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({n, 3}), Scalar(0.5)}), "tensor<Nx3xu8>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({n, 3}), Scalar(0.5), X({}, DataType::kI8)}),
            "tensor<Nx3xi8>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}, DataType::kI32), X({}), X({}, DataType::kU8)}),
            "tensor<2xu8>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({n, 3}, DataType::kI8), X({1})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({Unranked(DataType::kI32), X({})}), "tensor<*xf32>");
}

TEST_F(OnnxQuantize, ScalesAreScalarsOrFitTheAxis) {
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2, 3}), X({3}), X({3}, DataType::kI8)}), "tensor<2x3xi8>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2, 3}), X({2})}, {.axis = -2}), "tensor<2x3xu8>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2, 3}), X({2})}),
            "onnx.QuantizeLinear: y_scale has 2 entries but dimension 1 of x is 3");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({3}, DataType::kU8), X({3})}),
            "onnx.DequantizeLinear: axis 1 is out of range for rank 1");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({3}, DataType::kU8), X({3, 1})}),
            "onnx.DequantizeLinear: x_scale has rank 2 but must have 0 to 1");
}

TEST_F(OnnxQuantize, ElementTypesMustSuit) {
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}, DataType::kI64), X({})}),
            "onnx.QuantizeLinear: x is i64 but must be f32 or i32");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({}), X({}, DataType::kI32)}),
            "onnx.QuantizeLinear: y_zero_point is i32 but must be u8 or i8");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}), X({})}),
            "onnx.DequantizeLinear: x is f32 but must be i8 or u8 or i32");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, DataType::kI8), X({}), X({}, DataType::kU8)}),
            "onnx.DequantizeLinear: x is i8 but x_zero_point is u8");
}

}  // namespace
}  // namespace weft::ir

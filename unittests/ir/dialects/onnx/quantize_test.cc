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
  // A scale of unknown size may be one number, of which the axis says nothing.
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({3}, DataType::kU8), X({n})}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({3}, DataType::kU8), X({3, 1})}),
            "onnx.DequantizeLinear: x_scale has rank 2 but must have 0 to 1");
}

TEST_F(OnnxQuantize, ScalesAreAsManyAsZeroPoints) {
  const Value x = X({2, 3}), q = X({2, 3}, DataType::kI8);
  const Value zero = X({}, DataType::kI8), zeros = X({3}, DataType::kI8);
  EXPECT_EQ(Run<ops::QuantizeLinear>({x, X({}), zeros}),
            "onnx.QuantizeLinear: y_scale has 1 entries but y_zero_point has 3");
  EXPECT_EQ(Run<ops::DequantizeLinear>({q, X({3}), zero}),
            "onnx.DequantizeLinear: x_scale has 3 entries but x_zero_point has 1");
  EXPECT_EQ(Run<ops::QuantizeLinear>({x, X({1}), zero}), "tensor<2x3xi8>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({q, X({n}), zeros}), "tensor<2x3xf32>");
}

TEST_F(OnnxQuantize, ElementTypesMustSuit) {
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}, DataType::kI64), X({})}),
            "onnx.QuantizeLinear: x is i64 but must be f32 or f16 or bf16 or i32");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({}), X({}, DataType::kI32)}),
            "onnx.QuantizeLinear: y_zero_point is i32 but must be u8 or i8 or u16 or i16 or a "
            "number of 8 bits or less");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}), X({})}),
            "onnx.DequantizeLinear: x is f32 but must be i8 or u8 or i16 or u16 or i32 or a "
            "number of 8 bits or less");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, DataType::kI8), X({}), X({}, DataType::kU8)}),
            "onnx.DequantizeLinear: x is i8 but x_zero_point is u8");
}

TEST_F(OnnxQuantize, BlocksHaveAScaleEach) {
  const Value x = X({2, 7, 3});
  EXPECT_EQ(Run<ops::QuantizeLinear>({x, X({2, 3, 3})}, {.block_size = 3}), "tensor<2x7x3xu8>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2, 7}, DataType::kI16), X({1, 7}, DataType::kF16)},
                                       {.axis = 0, .block_size = 2}),
            "tensor<2x7xf16>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({x, X({2, 2, 3})}, {.block_size = 3}),
            "onnx.QuantizeLinear: y_scale is [2,2,3] but must be [2,3,3]");
  EXPECT_EQ(Run<ops::QuantizeLinear>({x, X({2, 2, 3})}, {.block_size = -1}),
            "onnx.QuantizeLinear: block_size is -1");
}

TEST_F(OnnxQuantize, AnAttributeMayChooseTheType) {
  const int64_t i16 = 5, f16 = 10;
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({})}, {.output_dtype = i16}), "tensor<2xi16>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, DataType::kU8), X({})}, {.output_dtype = f16}),
            "tensor<2xf16>");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({})}, {.output_dtype = f16}),
            "onnx.QuantizeLinear: output_dtype is 10, no type that it may be");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({})}, {.precision = i16}),
            "onnx.QuantizeLinear: precision is 5, no type that it may be");
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({}), X({}, DataType::kI8)}, {.output_dtype = i16}),
            "onnx.QuantizeLinear: y_zero_point is i8 but must be i16");
}

TEST_F(OnnxQuantize, NumbersMayBeOfLowPrecision) {
  for (DataType dtype : {DataType::kU4, DataType::kI2, DataType::kF4E2M1, DataType::kF8E5M2}) {
    const std::string name(DataTypeName(dtype));
    EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({}), X({}, dtype)}), "tensor<2x" + name + ">");
    EXPECT_EQ(
        Run<ops::QuantizeLinear>({X({2}), X({})}, {.output_dtype = static_cast<int64_t>(dtype)}),
        "tensor<2x" + name + ">");
    EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, dtype), X({})}), "tensor<2xf32>");
  }
  EXPECT_EQ(Run<ops::QuantizeLinear>({X({2}), X({}), X({}, DataType::kF8E8M0)}),
            "onnx.QuantizeLinear: y_zero_point is f8e8m0 but must be u8 or i8 or u16 or i16 or a "
            "number of 8 bits or less");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, DataType::kI4), X({}, DataType::kF8E8M0)},
                                       {.output_dtype = int64_t{10}}),
            "tensor<2xf16>");
  EXPECT_EQ(Run<ops::DequantizeLinear>({X({2}, DataType::kI4), X({}, DataType::kF8E8M0)}),
            "onnx.DequantizeLinear: x_scale is f8e8m0, so output_dtype must say the type of the "
            "result");
}

TEST_F(OnnxQuantize, DynamicQuantizeLinearReturnsItsParameters) {
  EXPECT_EQ(Run<ops::DynamicQuantizeLinear>({X({n, 3})}, {}, 3),
            "tensor<Nx3xu8>, tensor<f32>, tensor<u8>");
  EXPECT_EQ(Run<ops::DynamicQuantizeLinear>({X({n, 3}, DataType::kF16)}, {}, 3),
            "onnx.DynamicQuantizeLinear: x is f16 but must be f32");
}

}  // namespace
}  // namespace weft::ir

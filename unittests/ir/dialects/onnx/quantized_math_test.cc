#include "ir/dialects/onnx/quantized_math.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class OnnxQuantizedMath : public InferTest {
 protected:
  Value U8(const Shape& dims) { return X(dims, DataType::kU8); }
  Value I8(const Shape& dims) { return X(dims, DataType::kI8); }
};

TEST_F(OnnxQuantizedMath, MatMulIntegerSumsInI32) {
  const Value a = U8({2, 3, 4}), b = I8({4, 5});
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b}), "tensor<2x3x5xi32>");
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b, U8({3}), I8({5})}), "tensor<2x3x5xi32>");
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b, U8({2, 3, 1}), I8({1, 5})}), "tensor<2x3x5xi32>");
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b, U8({4})}),
            "onnx.MatMulInteger: a_zero_point has 4 entries but there are 3 rows");
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b, U8({}), I8({4})}),
            "onnx.MatMulInteger: b_zero_point has 4 entries but there are 5 columns");
  EXPECT_EQ(Run<ops::MatMulInteger>({a, b, I8({})}),
            "onnx.MatMulInteger: a is u8 but a_zero_point is i8");
  EXPECT_EQ(Run<ops::MatMulInteger>({X({2, 3}), b}),
            "onnx.MatMulInteger: a is f32 but must be i8 or u8");
}

TEST_F(OnnxQuantizedMath, QLinearMatMulHasTheTypeOfItsZeroPoint) {
  const Value s = X({});
  EXPECT_EQ(
      Run<ops::QLinearMatMul>({U8({n, 3}), s, U8({}), I8({3, 4}), X({4}), I8({4}), s, I8({})}),
      "tensor<Nx4xi8>");
  EXPECT_EQ(
      Run<ops::QLinearMatMul>({U8({2, 3}), s, U8({}), I8({3, 4}), X({3}), I8({4}), s, I8({})}),
      "onnx.QLinearMatMul: b_scale has 3 entries but there are 4 columns");
  // A vector is one row.
  EXPECT_EQ(Run<ops::QLinearMatMul>({U8({3}), s, U8({}), I8({3, 4}), s, I8({}), X({3}), I8({})}),
            "onnx.QLinearMatMul: y_scale has 3 entries but there are 1 rows");
  EXPECT_EQ(Run<ops::QLinearMatMul>({U8({2, 3}), s, U8({}), I8({3, 4}), s, I8({}), X({3}), I8({})}),
            "onnx.QLinearMatMul: y_scale has 3 entries but there are 2 rows");
}

TEST_F(OnnxQuantizedMath, ConvolutionsSlideTheirKernel) {
  const Value x = U8({1, 4, 5, 5}), w = I8({6, 2, 3, 3}), s = X({});
  EXPECT_EQ(Run<ops::ConvInteger>({x, w, U8({}), I8({6})}, {.group = 2, .strides = {2, 2}}),
            "tensor<1x6x2x2xi32>");
  EXPECT_EQ(
      Run<ops::QLinearConv>({x, s, U8({}), w, X({6}), I8({}), s, I8({}), X({6}, DataType::kI32)},
                            {.group = 2, .pads = {1, 1, 1, 1}}),
      "tensor<1x6x5x5xi8>");
  EXPECT_EQ(Run<ops::ConvInteger>({x, w}),
            "onnx.ConvInteger: x has 4 channels but w reads 2 in each of 1 groups");
  EXPECT_EQ(Run<ops::ConvInteger>({x, w, U8({2})}, {.group = 2}),
            "onnx.ConvInteger: x_zero_point is [2], not a scalar");
  EXPECT_EQ(Run<ops::ConvInteger>({x, w, U8({}), I8({4})}, {.group = 2}),
            "onnx.ConvInteger: w_zero_point has 4 entries but there are 6 output channels");
  EXPECT_EQ(Run<ops::QLinearConv>({x, s, U8({}), w, X({5}), I8({}), s, I8({})}, {.group = 2}),
            "onnx.QLinearConv: w_scale has 5 entries but there are 6 output channels");
}

}  // namespace
}  // namespace weft::ir

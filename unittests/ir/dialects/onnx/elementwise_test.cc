#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxElementwise = InferTest;

TEST_F(OnnxElementwise, UnaryOpsKeepTheType) {
  EXPECT_EQ(Run<ops::Relu>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Abs>({X({2}, DataType::kI64)}), "tensor<2xi64>");
  EXPECT_EQ(Run<ops::Neg>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Erf>({X({})}), "tensor<f32>");
  EXPECT_EQ(Run<ops::Exp>({Unranked()}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Log>({X({0, 2})}), "tensor<0x2xf32>");
  EXPECT_EQ(Run<ops::Sqrt>({X({kUnknownDim})}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Reciprocal>({X({2}, DataType::kF16)}), "tensor<2xf16>");
  EXPECT_EQ(Run<ops::Sigmoid>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Tanh>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::HardSwish>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::HardSigmoid>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::LeakyRelu>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Elu>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Selu>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Identity>({X({2}, DataType::kString)}), "tensor<2xstr>");
  EXPECT_EQ(Run<ops::Not>({X({2}, DataType::kBool)}), "tensor<2xbool>");
}

TEST_F(OnnxElementwise, ElementTypesMustSuitTheOp) {
  EXPECT_EQ(Run<ops::Relu>({X({2}, DataType::kBool)}), "onnx.Relu: x is bool but must be a number");
  EXPECT_EQ(Run<ops::Exp>({X({2}, DataType::kI64)}), "onnx.Exp: x is i64 but must be a float");
  EXPECT_EQ(Run<ops::Elu>({X({2}, DataType::kI64)}), "onnx.Elu: x is i64 but must be a float");
  EXPECT_EQ(Run<ops::Not>({X({2})}), "onnx.Not: x is f32 but must be bool");
  EXPECT_EQ(Run<ops::And>({X({2}), X({2})}), "onnx.And: x is f32 but must be bool");
  EXPECT_EQ(Run<ops::Add>({X({2}), X({2}, DataType::kI64)}), "onnx.Add: x is f32 but y is i64");
  EXPECT_EQ(Run<ops::Less>({X({2}, DataType::kBool), X({2}, DataType::kBool)}),
            "onnx.Less: x is bool but must be a number");
  EXPECT_EQ(Run<ops::Sum>({X({2}), X({2}), X({2}, DataType::kF64)}),
            "onnx.Sum: inputs[0] is f32 but inputs[2] is f64");
}

TEST_F(OnnxElementwise, OperandsThatAreNoTensorsAreRefused) {
  const Type vector = context.VectorType(std::vector<Type>{context.NoneType()});
  EXPECT_EQ(Run<ops::Relu>({OfType(vector)}), "onnx.Relu: x is vec[none], not a tensor");
  EXPECT_EQ(Run<ops::Add>({X({2}), OfType(context.NoneType())}),
            "onnx.Add: y is none, not a tensor");
}

TEST_F(OnnxElementwise, BinaryOpsBroadcast) {
  EXPECT_EQ(Run<ops::Add>({X({2, 3}), X({3})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::Sub>({X({2, 1}), X({1, 3})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::Mul>({X({}), X({4, 5})}), "tensor<4x5xf32>");
  EXPECT_EQ(Run<ops::Div>({X({1, 0}), X({2, 1})}), "tensor<2x0xf32>");
  EXPECT_EQ(Run<ops::Add>({Unranked(), X({3})}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Min>({X({2, 1}), X({3}), X({4, 1, 1})}), "tensor<4x2x3xf32>");
  EXPECT_EQ(Run<ops::Max>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Sum>({X({2}), X({1})}), "tensor<2xf32>");
}

TEST_F(OnnxElementwise, SymbolsBroadcastOnlyWhenTheySurelyCan) {
  EXPECT_EQ(Run<ops::Add>({X({n, 3}), X({1, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Add>({X({n, 3}), X({n, 1})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Add>({X({n}), X({m})}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Add>({X({n}), X({kUnknownDim})}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Add>({X({n}), X({5})}), "tensor<5xf32>");
}

TEST_F(OnnxElementwise, ShapesThatDoNotBroadcastAreNamed) {
  EXPECT_EQ(Run<ops::Add>({X({2, 3}), X({4, 3})}),
            "onnx.Add: x [2,3] and y [4,3] do not broadcast");
  EXPECT_EQ(Run<ops::Sum>({X({2}), X({1}), X({3})}),
            "onnx.Sum: inputs[2] [3] does not broadcast to the others' [2]");
  EXPECT_EQ(Run<ops::Where>({X({2}, DataType::kBool), X({3}), X({1})}),
            "onnx.Where: condition [2] and x [3] do not broadcast");
  EXPECT_EQ(Run<ops::Min>({}), "onnx.Min: has no operands");
}

TEST_F(OnnxElementwise, ComparisonsGiveBool) {
  EXPECT_EQ(Run<ops::Equal>({X({2}, DataType::kBool), X({1}, DataType::kBool)}), "tensor<2xbool>");
  EXPECT_EQ(Run<ops::Greater>({X({n}), X({1})}), "tensor<Nxbool>");
  EXPECT_EQ(Run<ops::Less>({X({2}), X({1})}), "tensor<2xbool>");
  EXPECT_EQ(Run<ops::GreaterOrEqual>({X({2}), X({1})}), "tensor<2xbool>");
  EXPECT_EQ(Run<ops::LessOrEqual>({X({2}), X({1})}), "tensor<2xbool>");
  EXPECT_EQ(Run<ops::And>({X({2}, DataType::kBool), X({3, 1}, DataType::kBool)}),
            "tensor<3x2xbool>");
  EXPECT_EQ(Run<ops::Or>({X({n}, DataType::kBool), X({1}, DataType::kBool)}), "tensor<Nxbool>");
  EXPECT_EQ(Run<ops::Xor>({X({2}, DataType::kBool), X({}, DataType::kBool)}), "tensor<2xbool>");
}

TEST_F(OnnxElementwise, PowKeepsTheTypeOfTheBase) {
  EXPECT_EQ(Run<ops::Pow>({X({2, 3}), X({}, DataType::kI64)}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::Pow>({X({2}), X({3})}), "onnx.Pow: x [2] and y [3] do not broadcast");
  EXPECT_EQ(Run<ops::Pow>({X({2}), X({2}, DataType::kBool)}),
            "onnx.Pow: y is bool but must be a number");
}

TEST_F(OnnxElementwise, CastChangesTheElementTypeOnly) {
  EXPECT_EQ(Run<ops::Cast>({X({n, 2})}, {.to = DataType::kI64}), "tensor<Nx2xi64>");
  EXPECT_EQ(Run<ops::Cast>({Unranked()}, {.to = DataType::kBool}), "tensor<*xbool>");
  EXPECT_EQ(Run<ops::Cast>({X({2})}, {.to = DataType::kNull}), "onnx.Cast: to is no element type");
}

TEST_F(OnnxElementwise, WhereSelectsByABool) {
  EXPECT_EQ(Run<ops::Where>({X({n, 1}, DataType::kBool), X({3}), X({})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Where>({X({2}), X({2}), X({2})}),
            "onnx.Where: condition is f32 but must be bool");
  EXPECT_EQ(Run<ops::Where>({X({2}, DataType::kBool), X({2}), X({2}, DataType::kI64)}),
            "onnx.Where: x is f32 but y is i64");
}

TEST_F(OnnxElementwise, ClipTakesScalarBounds) {
  EXPECT_EQ(Run<ops::Clip>({X({n, 2}), Scalar(0), Scalar(6)}), "tensor<Nx2xf32>");
  EXPECT_EQ(Run<ops::Clip>({X({2}), Value(), Scalar(6)}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Clip>({X({2}), X({2})}), "onnx.Clip: min is [2], not a scalar");
  EXPECT_EQ(Run<ops::Clip>({X({2}, DataType::kBool)}), "onnx.Clip: x is bool but must be a number");
  EXPECT_EQ(Run<ops::Clip>({X({2}), Scalar(0, DataType::kF64)}),
            "onnx.Clip: x is f32 but min is f64");
}

TEST_F(OnnxElementwise, DropoutHasAMask) {
  EXPECT_EQ(Run<ops::Dropout>({X({n, 2})}), "tensor<Nx2xf32>");
  EXPECT_EQ(Run<ops::Dropout>({X({2}), Scalar(0.5)}, {}, 2), "tensor<2xf32>, tensor<2xbool>");
  EXPECT_EQ(Run<ops::Dropout>({X({2}), X({2})}), "onnx.Dropout: ratio is [2], not a scalar");
  EXPECT_EQ(Run<ops::Dropout>({X({2}), Value(), Scalar(1)}),
            "onnx.Dropout: training_mode is f32 but must be bool");
}

TEST_F(OnnxElementwise, ResultsTooLargeForTheirSizeToBeCountedAreRefused) {
  const int64_t large = int64_t{1} << 31;
  EXPECT_EQ(Run<ops::Add>({X({large, 1}), X({1, large})}),
            "onnx.Add: the result is too large: [2147483648,2147483648]");
  EXPECT_EQ(Run<ops::MatMul>({X({large, 1}), X({1, large})}),
            "onnx.MatMul: the result is too large: [2147483648,2147483648]");
}

}  // namespace
}  // namespace weft::ir

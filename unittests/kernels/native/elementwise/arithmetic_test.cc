// Elementwise functions against the reference, on shapes that fill vectors and that do not.
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class O>
void ExpectUnary(float low, float high,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  for (const ir::Shape& dims : {ir::Shape{1}, ir::Shape{3, 37}, ir::Shape{2, 300, 97}})
    Agreement<O>({RandomIn(dims, 3, low, high)}, attrs, {FloatResult(dims)}).Of("native");
}

TEST(NativePRelu, AgreesWithTheReference) {
  const ir::Shape dims = {2, 5, 7, 9};
  for (const ir::Shape& slope : {ir::Shape{}, {5, 1, 1}, {9}, {2, 5, 7, 9}})
    Agreement<ops::PRelu>({Random(dims, 1), Random(slope, 2)}, {}, {FloatResult(dims)})
        .Of("native", 0);
  const int64_t least = std::numeric_limits<int64_t>::min();
  Agreement<ops::PRelu>({I64({4}, {-2, 7, 0, least}), I64({}, {3})}, {}, {{DataType::kI64, {4}}})
      .Of("native", 0);
}

TEST(NativeUnary, AgreesWithTheReference) {
  ExpectUnary<ops::Abs>(-3, 3);
  ExpectUnary<ops::Neg>(-3, 3);
  ExpectUnary<ops::Relu>(-3, 3);
  ExpectUnary<ops::Sqrt>(0, 9);
  ExpectUnary<ops::Exp>(-9, 5);
  ExpectUnary<ops::Log>(0.01f, 9);
  ExpectUnary<ops::Erf>(-4, 4);
  ExpectUnary<ops::Tanh>(-6, 6);
  ExpectUnary<ops::Sigmoid>(-9, 9);
  ExpectUnary<ops::Softplus>(-30, 30);
  ExpectUnary<ops::Mish>(-30, 30);
  ExpectUnary<ops::HardSwish>(-5, 5);
  ExpectUnary<ops::Reciprocal>(0.1f, 9);
  ExpectUnary<ops::HardSigmoid>(-5, 5, {.alpha = 0.3f, .beta = 0.4f});
  ExpectUnary<ops::LeakyRelu>(-5, 5, {.alpha = 0.2f});
  ExpectUnary<fused::Gelu>(-5, 5);
  ExpectUnary<ops::Floor>(-9, 9);
  ExpectUnary<ops::Ceil>(-9, 9);
  ExpectUnary<ops::Round>(-9, 9);
  ExpectUnary<ops::Sign>(-1, 1);
  ExpectUnary<ops::Softsign>(-9, 9);
  ExpectUnary<ops::Elu>(-5, 5, {.alpha = 0.7f});
  ExpectUnary<ops::Selu>(-5, 5);
  ExpectUnary<ops::Celu>(-5, 5, {.alpha = 1.5f});
  ExpectUnary<ops::ThresholdedRelu>(-5, 5, {.alpha = 1.5f});
  ExpectUnary<ops::Shrink>(-5, 5, {.bias = 0.25f, .lambd = 1.5f});
}

TEST(NativeUnary, CallsTheLibrary) {
  ExpectUnary<ops::Acos>(-1, 1);
  ExpectUnary<ops::Acosh>(1, 9);
  ExpectUnary<ops::Asin>(-1, 1);
  ExpectUnary<ops::Asinh>(-9, 9);
  ExpectUnary<ops::Atan>(-9, 9);
  ExpectUnary<ops::Atanh>(-0.99f, 0.99f);
  ExpectUnary<ops::Cos>(-90, 90);
  ExpectUnary<ops::Cosh>(-9, 9);
  ExpectUnary<ops::Sin>(-90, 90);
  ExpectUnary<ops::Sinh>(-9, 9);
  ExpectUnary<ops::Tan>(-1.5f, 1.5f);
}

TEST(NativeUnary, LeavesWhatItCannotDoToTheReference) {
  Agreement<ops::Celu>({RandomIn({33}, 1, -3, 3)}, {.alpha = -1.5f}, {FloatResult({33})})
      .Of("reference");
  Agreement<ops::Sign>({I64({3}, {-7, 0, 9})}, {}, {{DataType::kI64, {3}}}).Of("reference");
}

TEST(NativeClip, TakesConstantAndComputedBounds) {
  Agreement<ops::Clip>({RandomIn({501}, 1, -9, 9), F32({}, {-2}), Constant(F32({}, {3.5}))}, {},
                       {FloatResult({501})})
      .Of("native");
  Agreement<ops::Clip>({RandomIn({501}, 1, -9, 9), {}, F32({}, {3.5})}, {}, {FloatResult({501})})
      .Of("native");
}

TEST(NativeGelu, AddsABiasFirst) {
  for (const ir::Shape& bias : {ir::Shape{7, 130}, ir::Shape{7, 1}, ir::Shape{1}})
    Agreement<fused::Gelu>({RandomIn({7, 130}, 1, -4, 4), Random(bias, 2)}, {},
                           {FloatResult({7, 130})})
        .Of("native");
  Agreement<fused::Gelu>({RandomIn({7, 130}, 1, -4, 4), Constant(Random({130}, 2))}, {},
                         {FloatResult({7, 130})})
      .Of("native");
}

template <class O>
void ExpectBinary(float low, float high) {
  SCOPED_TRACE(O::kInfo.name);
  struct Case {
    ir::Shape a, b, y;
  };
  for (const Case& c : {Case{{7, 33}, {7, 33}, {7, 33}}, Case{{7, 33}, {33}, {7, 33}},
                        Case{{7, 1}, {1, 33}, {7, 33}}, Case{{}, {2, 3, 40}, {2, 3, 40}},
                        Case{{2, 3, 40, 5}, {3, 1, 1}, {2, 3, 40, 5}}})
    Agreement<O>({RandomIn(c.a, 1, low, high), RandomIn(c.b, 2, low, high)}, {}, {FloatResult(c.y)})
        .Of("native");
}

TEST(NativeBinary, AgreesWithTheReferenceUnderBroadcasting) {
  ExpectBinary<ops::Add>(-3, 3);
  ExpectBinary<ops::Sub>(-3, 3);
  ExpectBinary<ops::Mul>(-3, 3);
  ExpectBinary<ops::Div>(0.5f, 3);
  ExpectBinary<ops::Pow>(0.5f, 3);
  ExpectBinary<ops::Min>(-3, 3);
  ExpectBinary<ops::Max>(-3, 3);
}

TEST(NativeBinary, ComputesIntegersExactly) {
  const int64_t big = int64_t{1} << 60;
  Agreement<ops::Add>({I64({3}, {big, -5, 7}), I64({1}, {3})}, {}, {{DataType::kI64, {3}}})
      .Of("native", 0);
  Agreement<ops::Mul>({I32({3}, {4, -5, 7}), I32({3}, {3, 3, -2})}, {}, {{DataType::kI32, {3}}})
      .Of("native", 0);
}

TEST(NativeBinary, DividesIntegersTowardZero) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  Agreement<ops::Div>(
      {I64({2, 4}, {7, -7, least, least, 1, 0, -1, least + 1}), I64({4}, {2, 2, -1, 3})}, {},
      {{DataType::kI64, {2, 4}}})
      .Of("native", 0);
  Agreement<ops::Div>({I32({3}, {7, -7, 1 << 30}), I32({}, {-2})}, {}, {{DataType::kI32, {3}}})
      .Of("native", 0);
  Agreement<ops::Div>({MakeTensor<int8_t>(DataType::kI8, {2}, {7, -128}),
                       MakeTensor<int8_t>(DataType::kI8, {2}, {2, -1})},
                      {}, {{DataType::kI8, {2}}})
      .Of("reference", 0);
}

TEST(NativeBinary, RefusesToDivideAnIntegerByZero) {
  for (const std::string provider : {"native", "reference"}) {
    const auto y = TryRunOp<ops::Div>({I64({2}, {7, -7}), I64({2}, {2, 0})}, {},
                                      {{DataType::kI64, {2}}}, {.provider = provider});
    EXPECT_EQ(y.status().message(), "onnx.Div: an integer is divided by zero") << provider;
  }
}

TEST(NativeBinary, ComparesAndChooses) {
  const ResultType type = {DataType::kBool, {5, 33}};
  const auto operands = [] {
    return std::vector<Operand>{
        I32({5, 33}, ValuesOf<int32_t>(*RandomTensor(DataType::kI32, {5, 33}, 1, 0))),
        I32({33}, ValuesOf<int32_t>(*RandomTensor(DataType::kI32, {33}, 2, 0)))};
  };
  Agreement<ops::Equal>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Less>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Greater>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::LessOrEqual>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::GreaterOrEqual>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Where>(
      {*RandomTensor(DataType::kBool, {5, 1}, 3, 0), Random({33}, 4), F32({}, {9})}, {},
      {FloatResult({5, 33})})
      .Of("native", 0);
}

TEST(NativeCast, AgreesWithTheReference) {
  for (const DataType to : {DataType::kI32, DataType::kI64, DataType::kF64, DataType::kF16,
                            DataType::kBF16, DataType::kBool, DataType::kU8})
    Agreement<ops::Cast>({RandomIn({77}, 1, 0, 200)}, {.to = to}, {{to, {77}}}).Of("native", 0);
  Agreement<ops::Cast>({I64({3}, {0, 5, -9})}, {.to = DataType::kF32}, {FloatResult({3})})
      .Of("native", 0);
}

}  // namespace
}  // namespace weft::kernels

#include "ir/analysis/rounding_step.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class RoundingStepTest : public InferTest {
 protected:
  Value Quantize(Value x, DataType to = DataType::kU8) {
    return b.Make<ops::QuantizeLinear>({x, Scalar(0.25), X({}, to)});
  }
  Value Dequantize(Value q, double scale) {
    return b.Make<ops::DequantizeLinear>({q, Scalar(scale), X({}, q.type().dtype())});
  }
};

TEST_F(RoundingStepTest, IsOneForIntegersThatWereRounded) {
  EXPECT_EQ(RoundingStep(Quantize(X({2, 3}))), 1);
  EXPECT_EQ(RoundingStep(Quantize(X({2, 3}), DataType::kI4)), 1);
  EXPECT_EQ(RoundingStep(b.Make<ops::DynamicQuantizeLinear>({X({2, 3})})), 1);
  const Operation dynamic = b.Create<ops::DynamicQuantizeLinear>({X({2, 3})});
  EXPECT_EQ(RoundingStep(dynamic.result(2)), std::nullopt);  // the zero point
  EXPECT_EQ(RoundingStep(Quantize(X({2, 3}), DataType::kF8E4M3FN)), std::nullopt);
}

TEST_F(RoundingStepTest, IsTheScaleOfWhatIsDequantised) {
  const Value q = Quantize(X({2, 3}));
  EXPECT_EQ(RoundingStep(Dequantize(q, 0.5)), 0.5);
  EXPECT_EQ(RoundingStep(Dequantize(q, 0)), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::DequantizeLinear>({q, X({}), X({}, DataType::kU8)})),
            std::nullopt);  // a scale that is computed
  EXPECT_EQ(RoundingStep(Dequantize(X({2, 3}, DataType::kU8), 0.5)), std::nullopt);
}

TEST_F(RoundingStepTest, StaysThroughWhatMovesAndBounds) {
  const Value x = Dequantize(Quantize(X({2, 3})), 0.5);
  const Value moved = b.Make<ops::Relu>(
      {b.Make<ops::Reshape>({b.Make<ops::Transpose>({x}, {.perm = {1, 0}}), I({6})})});
  EXPECT_EQ(RoundingStep(moved), 0.5);
  const Value other = Dequantize(Quantize(X({2, 3})), 0.5);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, other}, {.axis = 0})), 0.5);
  const Value third = Dequantize(Quantize(X({2, 3})), 0.75);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, third}, {.axis = 0})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, X({2, 3})}, {.axis = 0})), std::nullopt);
}

TEST_F(RoundingStepTest, IsNothingForOtherValues) {
  const Value x = Dequantize(Quantize(X({2, 3})), 0.5), q = Quantize(X({2, 3}));
  EXPECT_EQ(RoundingStep(X({2, 3}, DataType::kU8)), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Add>({x, x})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Softmax>({x})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::MatMulInteger>({q, X({3, 4}, DataType::kI8)})), std::nullopt);
}

TEST_F(RoundingStepTest, EndsSoonInATowerOfOneValue) {
  for (const size_t width : {2, 8}) {
    Value x = Quantize(X({0, 3}));
    for (int i = 0; i < 40; ++i) x = b.Make<ops::Concat>(std::vector<Value>(width, x), {.axis = 0});
    EXPECT_EQ(RoundingStep(x), std::nullopt);
  }
}

}  // namespace
}  // namespace weft::ir

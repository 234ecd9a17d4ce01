#include "ir/analysis/rounding_step.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class RoundingStepTest : public InferTest {
 protected:
  // A value that a run computes.
  Value Computed(const Shape& dims) {
    const Value x = X(dims);
    return b.Make<ops::Mul>({x, x});
  }
  Value Quantize(Value x, DataType to = DataType::kU8) {
    return b.Make<ops::QuantizeLinear>({x, Scalar(0.25), X({}, to)});
  }
  Value Dequantize(Value q, double scale) {
    return b.Make<ops::DequantizeLinear>({q, Scalar(scale), X({}, q.type().dtype())});
  }
};

TEST_F(RoundingStepTest, IsOneForIntegersThatWereRounded) {
  EXPECT_EQ(RoundingStep(Quantize(Computed({2, 3}))), 1);
  EXPECT_EQ(RoundingStep(Quantize(Computed({2, 3}), DataType::kI4)), 1);
  EXPECT_EQ(RoundingStep(b.Make<ops::DynamicQuantizeLinear>({Computed({2, 3})})), 1);
  const Operation dynamic = b.Create<ops::DynamicQuantizeLinear>({Computed({2, 3})});
  EXPECT_EQ(RoundingStep(dynamic.result(2)), std::nullopt);  // the zero point
  EXPECT_EQ(RoundingStep(Quantize(Computed({2, 3}), DataType::kF8E4M3FN)), std::nullopt);
}

TEST_F(RoundingStepTest, IsTheScaleOfWhatIsDequantised) {
  const Value q = Quantize(Computed({2, 3}));
  EXPECT_EQ(RoundingStep(Dequantize(q, 0.5)), 0.5);
  EXPECT_EQ(RoundingStep(Dequantize(q, 0)), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::DequantizeLinear>({q, X({}), X({}, DataType::kU8)})),
            std::nullopt);  // a scale that is computed
  EXPECT_EQ(RoundingStep(Dequantize(X({2, 3}, DataType::kU8), 0.5)), std::nullopt);
}

TEST_F(RoundingStepTest, StaysThroughWhatMovesAndBounds) {
  const Value x = Dequantize(Quantize(Computed({2, 3})), 0.5);
  const Value moved = b.Make<ops::Relu>(
      {b.Make<ops::Reshape>({b.Make<ops::Transpose>({x}, {.perm = {1, 0}}), I({6})})});
  EXPECT_EQ(RoundingStep(moved), 0.5);
  const Value other = Dequantize(Quantize(Computed({2, 3})), 0.5);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, other}, {.axis = 0})), 0.5);
  const Value third = Dequantize(Quantize(Computed({2, 3})), 0.75);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, third}, {.axis = 0})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({x, X({2, 3})}, {.axis = 0})), std::nullopt);
}

TEST_F(RoundingStepTest, IsNothingForOtherValues) {
  const Value x = Dequantize(Quantize(Computed({2, 3})), 0.5), q = Quantize(Computed({2, 3}));
  EXPECT_EQ(RoundingStep(X({2, 3}, DataType::kU8)), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Add>({x, x})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Softmax>({x})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::MatMulInteger>({q, X({3, 4}, DataType::kI8)})), std::nullopt);
}

// The result of these is specified to the last bit.
TEST_F(RoundingStepTest, IsNothingForWhatIsQuantisedAsItIsGiven) {
  const Value x = X({2, 3}), constant = Scalar(0.3);
  EXPECT_EQ(RoundingStep(Quantize(x)), std::nullopt);
  EXPECT_EQ(RoundingStep(Quantize(constant)), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::DynamicQuantizeLinear>({x})), std::nullopt);
  EXPECT_EQ(RoundingStep(Dequantize(Quantize(x), 0.5)), std::nullopt);
  const Value moved = b.Make<ops::Relu>({b.Make<ops::Transpose>({x}, {.perm = {1, 0}})});
  EXPECT_EQ(RoundingStep(Quantize(moved)), std::nullopt);
  EXPECT_EQ(RoundingStep(Quantize(b.Make<ops::Relu>({Computed({2, 3})}))), 1);
}

TEST_F(RoundingStepTest, IsOneWhereTheScaleIsComputedOrTheFloatsAreShort) {
  const Value scale = b.Make<ops::Mul>({Scalar(0.3), X({})});
  EXPECT_EQ(RoundingStep(b.Make<ops::QuantizeLinear>({X({2, 3}), scale, X({}, DataType::kU8)})), 1);
  const Value half = X({2, 3}, DataType::kF16);  // may be widened, and the quotient with it
  EXPECT_EQ(RoundingStep(b.Make<ops::QuantizeLinear>(
                {half, Scalar(0.25, DataType::kF16), X({}, DataType::kU8)})),
            1);
}

TEST_F(RoundingStepTest, IsThatOfEveryPartOfAConcat) {
  const Value given = Quantize(X({2, 3})), computed = Quantize(Computed({2, 3}));
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({given, computed}, {.axis = 0})), 1);
  EXPECT_EQ(RoundingStep(b.Make<ops::Concat>({given, given}, {.axis = 0})), std::nullopt);
}

// A bound between two steps makes differences of parts of a step.
TEST_F(RoundingStepTest, NeedsBoundsThatAreWholeSteps) {
  const Value x = Dequantize(Quantize(Computed({2, 3})), 0.5);
  EXPECT_EQ(RoundingStep(b.Make<ops::Clip>({x, Scalar(-1), Scalar(6)})), 0.5);
  EXPECT_EQ(RoundingStep(b.Make<ops::Clip>({x, Value(), Scalar(6)})), 0.5);
  EXPECT_EQ(RoundingStep(b.Make<ops::Clip>({x, Scalar(0.2), Scalar(6)})), std::nullopt);
  EXPECT_EQ(RoundingStep(b.Make<ops::Clip>({x, X({}), Scalar(6)})), std::nullopt);
}

TEST_F(RoundingStepTest, EndsSoonInATowerOfOneValue) {
  for (const size_t width : {2, 8}) {
    Value x = Quantize(Computed({0, 3}));
    for (int i = 0; i < 40; ++i) x = b.Make<ops::Concat>(std::vector<Value>(width, x), {.axis = 0});
    EXPECT_EQ(RoundingStep(x), std::nullopt);
  }
}

}  // namespace
}  // namespace weft::ir

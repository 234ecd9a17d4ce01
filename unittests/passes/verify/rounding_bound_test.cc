// How far results may be off by rounding: what is computed lies within, and not far within.
#include "passes/verify/rounding_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/program_runner.h"
#include "passes/verify/difference.h"
#include "passes/verify/in_double.h"
#include "passes/verify/test_inputs.h"

namespace weft::passes {
namespace {

using ir::Builder;
using ir::DataType;
using ir::Value;
using Kernels = ir::ProgramRunner::Kernels;

// The bound of the only output of a program, and how far the default kernels are off.
struct Outcome {
  double bound = 0, error = 0;
};

class RoundingBound : public testing::Test {
 protected:
  RoundingBound() { ir::LoadOnnxDialect(context_); }

  // `make`: the output, from inputs x and y of this type and sizes.
  template <class Make>
  Outcome Measure(DataType type, const ir::Shape& sizes, const Make& make, uint64_t seed = 1) {
    ir::Program program(&context_);
    Builder b(&program);
    const ir::Type input = context_.TensorType(type, sizes);
    const Value x = b.AddInput("x", input), y = b.AddInput("y", input);
    b.Return({{"z", make(b, x, y)}});
    const auto in_double = InDouble(program);
    const std::vector<ir::Type> types = {input, input};
    const std::vector<ir::Attribute> inputs = MakeInputs(types, InputKind::kReal, seed);
    const std::vector<ir::Attribute> wide = {AsDoubles(inputs[0]), AsDoubles(inputs[1])};
    const auto exact = runner_.Run(*in_double, wide, Kernels::kReference);
    const auto rounded = runner_.Run(program, inputs, Kernels::kDefault);
    EXPECT_TRUE(exact.ok() && rounded.ok()) << exact.status() << rounded.status();
    const auto bounds = RoundingBounds(*in_double, wide, *exact, UnitRoundoff(program), runner_);
    return {bounds.at(0), Compare((*exact)[0], AsDoubles((*rounded)[0])).absolute};
  }

  ir::IrContext context_;
  kernels::SessionRunner runner_;
};

// (x + 1000) y - 1000 y, which is x y.
Value Cancelling(Builder& b, Value x, Value y) {
  const Value large = b.ConstantScalar(x.type().dtype(), 1000);
  const Value sum = b.Make<ir::ops::Add>({x, large});
  return b.Make<ir::ops::Sub>({b.Make<ir::ops::Mul>({sum, y}), b.Make<ir::ops::Mul>({large, y})});
}

TEST_F(RoundingBound, HoldsWhereLargeNumbersCancel) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = Measure(DataType::kF32, {64}, Cancelling, seed);
    EXPECT_GT(outcome.error, 1e-5);  // hundreds of times what one rounding of the result would be
    EXPECT_LE(outcome.error, outcome.bound);
    EXPECT_LE(outcome.bound, 50 * outcome.error);
  }
}

TEST_F(RoundingBound, HoldsForShorterFloats) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    const Outcome outcome = Measure(type, {64}, Cancelling);
    EXPECT_GT(outcome.error, 1e-5);
    EXPECT_LE(outcome.error, outcome.bound);
  }
}

TEST_F(RoundingBound, GrowsWithTheElementsThatAreSummed) {
  const auto square = [](Builder& b, Value x, Value y) { return b.Make<ir::ops::MatMul>({x, y}); };
  const Outcome small = Measure(DataType::kF32, {4, 4}, square);
  const Outcome large = Measure(DataType::kF32, {32, 32}, square);
  EXPECT_LE(small.error, small.bound);
  EXPECT_LE(large.error, large.bound);
  EXPECT_GT(large.bound, 8 * small.bound);
  EXPECT_LT(small.bound, 1e-4);  // another sum would be off by more
}

TEST_F(RoundingBound, IsNothingWhereElementsAreMoved) {
  const Outcome outcome = Measure(DataType::kF32, {2, 3}, [](Builder& b, Value x, Value y) {
    const Value joined = b.Make<ir::ops::Concat>({x, y}, {.axis = 0});
    return b.Make<ir::ops::Relu>({b.Make<ir::ops::Transpose>({joined}, {.perm = ir::Ints{1, 0}})});
  });
  EXPECT_EQ(outcome.bound, 0);
  EXPECT_EQ(outcome.error, 0);
}

TEST_F(RoundingBound, IsInfiniteWhereNothingCanBeSaid) {
  // It does not run: no inputs.
  ir::Program program(&context_);
  Builder b(&program);
  const ir::Type type = context_.TensorType(DataType::kF64, {3});
  const Value x = b.AddInput("x", type);
  b.Return({{"z", b.Make<ir::ops::Exp>({x})}});
  const std::vector<ir::Attribute> none;
  const std::vector<ir::Attribute> results = MakeInputs({{type}}, InputKind::kReal, 1);
  EXPECT_TRUE(std::isinf(RoundingBounds(program, none, results, 0x1p-24, runner_).at(0)));
}

}  // namespace
}  // namespace weft::passes

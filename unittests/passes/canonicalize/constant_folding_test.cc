// Which results are too large to be folded; the programs of golden/constant-folding/ have the rest.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/shape.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Value;

constexpr int64_t kFloatsPerKib = 256;

class ConstantFoldingSize : public testing::Test {
 protected:
  ConstantFoldingSize() : program(&context), b(&program) { ir::LoadOnnxDialect(context); }

  Value Floats(int64_t kib) {
    std::vector<float> values(kib * kFloatsPerKib);
    std::iota(values.begin(), values.end(), 1.0f);
    return b.ConstantFloats(values, std::vector<int64_t>{kib * kFloatsPerKib});
  }
  Value Tile(Value x, int64_t times) { return b.Make<ops::Tile>({x, b.ConstantInts({times})}); }
  Value ExpandToKib(int64_t kib) {
    return b.Make<ops::Expand>(
        {b.ConstantScalar(ir::DataType::kF32, 1.5), b.ConstantInts({kib * kFloatsPerKib})});
  }
  Value Sum(Value x) { return b.Make<ops::ReduceSum>({x, Value()}, {.keepdims = 0}); }

  // Whether the program's one output, y, is a constant after the pass.
  bool Folds(Value y, bool fold_constants = true) {
    b.Return({{"y", y}});
    auto evaluator = kernels::KernelEvaluator::Create("reference");
    EXPECT_TRUE(evaluator.ok());
    PassManager pm(&context);
    pm.pass_context().evaluator = evaluator->get();
    pm.pass_context().fold_constants = fold_constants;
    pm.AddPass(MakePass("constant-folding"));
    EXPECT_TRUE(pm.Run(program).ok());
    const bool folded = ir::IsConstant(program.body().Terminator().operand(0));
    EXPECT_EQ(pm.reports()[0].changed, folded);
    return folded;
  }

  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
};

TEST_F(ConstantFoldingSize, SixtyFourKibAreNeverTooMuch) { EXPECT_TRUE(Folds(ExpandToKib(64))); }

TEST_F(ConstantFoldingSize, MoreThanThatOfNextToNothingIs) { EXPECT_FALSE(Folds(ExpandToKib(65))); }

TEST_F(ConstantFoldingSize, TwiceWhatIsReadIsNotTooMuch) {
  EXPECT_TRUE(Folds(Tile(Floats(40), 2)));
}

TEST_F(ConstantFoldingSize, ThreeTimesWhatIsReadIs) { EXPECT_FALSE(Folds(Tile(Floats(40), 3))); }

TEST_F(ConstantFoldingSize, WhatWasHeldBackIsNothingThatIsRead) {
  EXPECT_FALSE(Folds(b.Make<ops::Relu>({Tile(Floats(40), 3)})));
}

TEST_F(ConstantFoldingSize, ALargeResultOnTheWayToASmallOneIsComputed) {
  const Value sum = Sum(b.Make<ops::Relu>({ExpandToKib(65)}));
  EXPECT_TRUE(Folds(sum));
  EXPECT_EQ(program.num_operations(), 3u) << "the module, the sum and the return";
  EXPECT_EQ(ir::ConstantSplat(program.body().Terminator().operand(0)), 1.5 * 65 * kFloatsPerKib);
}

TEST_F(ConstantFoldingSize, AHeldBackOpStaysWhereItsOtherResultIsUsed) {
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {1}));
  const ir::Operation split = b.Create<ops::Split>({ExpandToKib(256), Value()}, {}, 2);
  const Value sum = Sum(split.result(0));
  const Value other = b.Make<ops::Add>({split.result(1), x});
  b.Return({{"sum", sum}, {"other", other}});
  auto evaluator = kernels::KernelEvaluator::Create("reference");
  PassManager pm(&context);
  pm.pass_context().evaluator = evaluator->get();
  pm.AddPass(MakePass("constant-folding"));
  ASSERT_TRUE(pm.Run(program).ok());
  EXPECT_EQ(ir::ConstantSplat(program.body().Terminator().operand(0)), 1.5 * 128 * kFloatsPerKib);
  EXPECT_EQ(ir::Message(ir::Verify(program)), "");
  EXPECT_TRUE(split.IsAlive());
}

TEST_F(ConstantFoldingSize, UnlessItIsVeryLarge) {
  EXPECT_FALSE(Folds(Sum(ExpandToKib((64 << 10) + 1))));
}

TEST_F(ConstantFoldingSize, NothingIsComputedInARunThatFoldsNoConstants) {
  EXPECT_FALSE(Folds(Sum(ExpandToKib(1)), false));
}

// Passes that fold constants do not go on without what they fold with.
TEST(MissingEvaluator, IsAnErrorThatSaysWhatToSet) {
  for (const char* pass : {"constant-folding", "superopt"}) {
    SCOPED_TRACE(pass);
    ir::IrContext context;
    ir::Program program(&context);
    ir::Builder(&program).Return({});
    PassManager pm(&context);
    pm.AddPass(MakePass(pass));
    const absl::Status status = pm.Run(program);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ir::Message(status),
              std::string("pass ") + pass +
                  ": PassContext::evaluator is not set and constants cannot be folded: set it to "
                  "what kernels::KernelEvaluator::Create(\"auto\") returns, or set "
                  "PassContext::fold_constants to false");
    pm.pass_context().fold_constants = false;
    EXPECT_EQ(pm.Run(program).message(), "");
  }
}

}  // namespace
}  // namespace weft::passes

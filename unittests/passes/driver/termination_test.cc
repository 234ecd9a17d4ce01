// The greedy driver ends: rules that undo each other stop at the budget and are named, and both
// directions give the same program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "passes/greedy_driver.h"
#include "unittests/passes/toy_rules.h"

namespace weft::passes {
namespace {

namespace toy = drr::toy;
using drr::MatchContext;
using drr::ResultPattern;
using drr::SourcePattern;
using ir::Value;
using testing::HasSubstr;

// scale(scale(x, a), b) => scale(x, a + b)
struct ScaleOnce : ToyRule<ScaleOnce> {
  static constexpr std::string_view kName = "scale-once";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto a = src.Attr<int64_t>("a"), c = src.Attr<int64_t>("c");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<toy::Scale>({.axis = a})(x));
    auto out = src.Op<toy::Scale>({.axis = c})(inner);
    res.Tensor(out) =
        res.Op<toy::Scale>({.axis = [=](const MatchContext& m) { return m[a] + m[c]; }})(x);
  }
};
// relu(scale(x)) => scale(relu(x))
struct ScaleLast : ToyRule<ScaleLast> {
  static constexpr std::string_view kName = "scale-last";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto a = src.Attr<int64_t>("a");
    auto x = src.Tensor("x");
    auto out = src.Op<toy::Relu>()(src.Keep(src.Op<toy::Scale>({.axis = a})(x)));
    res.Tensor(out) = res.Op<toy::Scale>({.axis = a})(res.Op<toy::Relu>()(x));
  }
};

// join(xs, relu(x), ys) => join(xs, ys)
struct DropRelu : ToyRule<DropRelu> {
  static constexpr std::string_view kName = "drop-relu";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys");
    auto dropped = src.Keep(src.Op<toy::Relu>()(src.Tensor("x")));
    res.Tensor(src.Op<toy::Join>()(xs, dropped, ys)) = res.Op<toy::Join>()(xs, ys);
  }
};

class DriverTermination : public testing::Test {
 protected:
  DriverTermination() : program(&context), b(&program) {
    toy::Load(context);
    x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
    y = b.AddInput("y", context.TensorType(ir::DataType::kF32, {2, 3}));
  }
  template <class... Rules>
  absl::StatusOr<GreedyRewriteResult> Run(const GreedyRewriteConfig& config) {
    return ApplyPatternsGreedily(program, FreezeRules<Rules...>(context), config);
  }
  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
  Value x, y;
};

TEST_F(DriverTermination, RulesThatUndoEachOtherStopAtTheBudgetAndAreNamed) {
  b.Return({{"out", b.Make<toy::Relu>({b.Make<toy::Add>({x, y})})}});
  const auto result = Run<AddToMul, MulToAdd, ScaleOnce>({.max_rewrites = 41});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(std::string(result.status().message()),
            "rewriting does not end: the budget is used up by add-to-mul (21 times), mul-to-add "
            "(20 times): they undo each other at toy.add");
  EXPECT_EQ(ir::Verify(program).message(), "");
  EXPECT_EQ(program.body().num_ops(), 3u);
}

TEST_F(DriverTermination, TheDefaultBudgetEndsThemToo) {
  b.Return({{"out", b.Make<toy::Add>({x, y})}});
  EXPECT_THAT(std::string((Run<AddToMul, MulToAdd>({}).status().message())),
              HasSubstr("rewriting does not end"));
}

TEST_F(DriverTermination, GrowthStopsAtTheBudget) {
  b.Return({{"out", b.Make<toy::Relu>({x})}});
  const auto result = Run<GrowRelu>({.max_rewrites = 50});
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("grow-relu (50 times)"));
  EXPECT_EQ(program.body().num_ops(), 52u);  // one more relu each time
  EXPECT_EQ(ir::Verify(program).message(), "");
}

TEST_F(DriverTermination, ALimitPerRuleIsNoError) {
  b.Return({{"out", b.Make<toy::Add>({x, y})}});
  const auto result = Run<AddToMul, MulToAdd>({.max_rewrites_per_rule = 3});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rules[0].applied, 3u);
  EXPECT_EQ(result->rules[1].applied, 3u);
}

TEST_F(DriverTermination, EnoughRewritesForALongChain) {
  Value v = x;
  for (int i = 0; i < 3000; ++i) v = b.Make<toy::Scale>({v}, {.axis = 1});
  b.Return({{"out", v}});
  const auto result = Run<ScaleOnce>({});
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(program.body().num_ops(), 2u);
  EXPECT_EQ(program.body().front().attrs_of<toy::Scale>().axis, 3000);
}

TEST_F(DriverTermination, EnoughRewritesForManyOperands) {
  std::vector<Value> operands(400, b.Make<toy::Relu>({x}));
  operands.push_back(y);
  b.Return({{"out", b.Make<toy::Join>(operands)}});
  const auto result = Run<DropRelu>({});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->rules[0].applied, 400u);
  EXPECT_EQ(program.body().front().num_operands(), 1u);
}

TEST_F(DriverTermination, BothDirectionsGiveTheSameProgram) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::string texts[2];
    for (bool top_down : {true, false}) {
      std::mt19937 random(seed);
      ir::Program p(&context);
      ir::Builder builder(&p);
      std::vector<Value> values = {
          builder.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}))};
      for (int i = 0; i < 30; ++i) {
        const Value v = values[random() % values.size()];
        const auto axis = static_cast<int64_t>(random() % 9);
        values.push_back(random() % 2 ? builder.Make<toy::Relu>({v})
                                      : builder.Make<toy::Scale>({v}, {.axis = axis}));
      }
      builder.Return({{"a", values.back()}, {"b", values[values.size() / 2]}});
      const auto frozen = FreezeRules<ReluOnce, ScaleOnce, ScaleLast>(context);
      const auto result = ApplyPatternsGreedily(
          p, frozen, {.use_top_down_traversal = top_down, .verify_after_rewrite = true});
      ASSERT_TRUE(result.ok()) << result.status().message();
      // A normal form: one relu if there was any, then one scale if there was any, per output.
      for (Value output : p.body().Terminator().operands()) {
        std::string text;
        for (Value v = output; !v.IsBlockArgument(); v = v.DefiningOp().operand(0)) {
          text += v.DefiningOp().name();
          if (v.DefiningOp().Is<toy::Scale>())
            text += std::to_string(v.DefiningOp().attrs_of<toy::Scale>().axis);
          text += " ";
        }
        texts[top_down] += text + "\n";
      }
    }
    EXPECT_EQ(texts[0], texts[1]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::passes

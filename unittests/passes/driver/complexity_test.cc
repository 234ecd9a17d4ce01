// Sizes at which anything quadratic or recursive in the driver would show.
#include <gtest/gtest.h>

#include <string>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/greedy_driver.h"
#include "unittests/passes/toy_rules.h"

namespace weft::passes {
namespace {

namespace toy = drr::toy;
using ir::Value;

class DriverHardCases : public testing::Test {
 protected:
  DriverHardCases() : program(&context), b(&program) {
    toy::Load(context);
    x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  }
  uint64_t Applied(ir::Program& to, const drr::FrozenRewritePatternSet& rules) {
    const auto result = ApplyPatternsGreedily(to, rules);
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(ir::Verify(to).message(), "");
    uint64_t applied = 0;
    for (const RuleStatistics& rule : result->rules) applied += rule.applied;
    return applied;
  }
  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
  Value x;
};

TEST_F(DriverHardCases, AChainOfAMillionOps) {
  Value v = x;
  for (int i = 0; i < 1'000'000; ++i) v = b.Make<toy::Relu>({v});
  b.Return({{"out", v}});
  EXPECT_EQ(Applied(program, FreezeRules<ReluOnce>(context)), 999'999u);
  EXPECT_EQ(program.body().num_ops(), 2u);
}

TEST_F(DriverHardCases, AMillionRewritesOneAboveTheOther) {
  Value v = x;
  for (int i = 0; i < 1'000'000; ++i) v = b.Make<toy::Add>({v, x});
  b.Return({{"out", v}});
  EXPECT_EQ(Applied(program, FreezeRules<AddToMul>(context)), 1'000'000u);
  EXPECT_EQ(program.body().num_ops(), 1'000'001u);
}

TEST_F(DriverHardCases, FiftyThousandReadersOfOneValue) {
  const Value shared = b.Make<toy::Relu>({x});
  ir::OperationState all{.opcode = ir::Opcode::FindOrAdd("toy.unknown")};
  for (int i = 0; i < 50'000; ++i)
    all.operands.push_back(i % 2 ? b.Make<toy::Relu>({shared}) : b.Make<toy::Add>({shared, x}));
  b.Create(std::move(all));
  b.Return({{"out", shared}});
  // Half of the readers become a product, the others the value itself, at one operand after another.
  EXPECT_EQ(Applied(program, FreezeRules<ReluOnce, AddToMul>(context)), 50'000u);
  EXPECT_EQ(shared.use_count(), 50'001u);
  EXPECT_EQ(program.body().num_ops(), 25'003u);
}

// relu(relu(x)) => relu(x), a new one
struct ReluAnew : ToyRule<ReluAnew> {
  static constexpr std::string_view kName = "relu-anew";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto v = src.Tensor("x");
    res.Tensor(src.Op<toy::Relu>()(src.Op<toy::Relu>()(v))) = res.Op<toy::Relu>()(v);
  }
};

// Each step changes what all of them read, and nothing for any of them.
TEST_F(DriverHardCases, AChainAboveFiftyThousandReaders) {
  Value v = x;
  for (int i = 0; i < 20'000; ++i) v = b.Make<toy::Relu>({v});
  ir::OperationState all{.opcode = ir::Opcode::FindOrAdd("toy.unknown")};
  for (int i = 0; i < 50'000; ++i) all.operands.push_back(b.Make<toy::Tanh>({v}));
  b.Create(std::move(all));
  b.Return({{"out", v}});
  EXPECT_EQ(Applied(program, FreezeRules<ReluAnew>(context)), 19'999u);
  EXPECT_EQ(program.body().num_ops(), 50'003u);
}

TEST_F(DriverHardCases, AnOpWithAHundredThousandOperands) {
  ir::OperationState wide{.opcode = ir::Opcode::FindOrAdd("toy.unknown")};
  for (int i = 0; i < 100'000; ++i) wide.operands.push_back(b.Make<toy::Add>({x, x}));
  const ir::Operation reader = b.Create(std::move(wide));
  b.Return({{"out", x}});
  EXPECT_EQ(Applied(program, FreezeRules<AddToMul>(context)), 100'000u);
  EXPECT_EQ(reader.operand(99'999).DefiningOp().name(), "toy.mul");
}

// join(xs, e, ys) => join(xs, ys), where e is empty
struct DropEmpty : ToyRule<DropEmpty> {
  static constexpr std::string_view kName = "drop-empty";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys");
    auto e = src.Tensor("e");
    auto out = src.Op<toy::Join>()(xs, e, ys);
    src.Require(drr::Dim(e, 0, 0));
    res.Tensor(out) = res.Op<toy::Join>()(xs, ys);
  }
};

TEST_F(DriverHardCases, AnOpWithManyOperandsIsLookedAtWhenAllOfThemAreDone) {
  std::vector<Value> operands;
  for (int i = 0; i < 1000; ++i) operands.push_back(b.Make<toy::Add>({x, x}));
  b.Return({{"out", b.Make<toy::Join>(operands)}});
  const auto result = ApplyPatternsGreedily(program, FreezeRules<AddToMul, DropEmpty>(context));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rules[0].applied, 1000u);
  EXPECT_EQ(result->rules[1].tried, 1u);
}

// scale(x) {axis = i} => relu(x), one rule for each i
struct NumberedRule : drr::DrrPatternBase<NumberedRule> {
  explicit NumberedRule(int64_t i) : number(i) {}
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    drr::ResultPattern res = src.ResultPattern();
    auto v = src.Tensor("x");
    res.Tensor(src.Op<toy::Scale>({.axis = number})(v)) = res.Op<toy::Relu>()(v);
  }
  int64_t number;
};

TEST_F(DriverHardCases, ThreeThousandRulesAtOnce) {
  drr::RewritePatternSet set(&context);
  for (int64_t i = 0; i < 3000; ++i) set.Add(NumberedRule(i).Build(&context));
  ASSERT_TRUE(set.errors().empty()) << set.errors()[0];
  const drr::FrozenRewritePatternSet rules(std::move(set));
  Value v = x;
  for (int64_t i = 0; i < 6000; ++i) v = b.Make<toy::Scale>({v}, {.axis = i});
  b.Return({{"out", v}});
  const auto result = ApplyPatternsGreedily(program, rules);
  ASSERT_TRUE(result.ok());
  for (const RuleStatistics& rule : result->rules) {
    EXPECT_EQ(rule.tried, 1u);  // at no op but its own
    EXPECT_EQ(rule.applied, 1u);
  }
}

std::string Nested(int depth, const std::string& innermost) {
  std::string text = "{";
  for (int i = 0; i < depth; ++i) text += " () = \"toy.unknown\" () {} : () -> ({";
  text += innermost;
  for (int i = 0; i < depth; ++i) text += "})";
  return text + "}";
}

TEST_F(DriverHardCases, AHundredNestedRegionsAreRewrittenTenThousandRefused) {
  const std::string ops =
      " (%0) = \"toy.unknown\" () {} : () -> tensor<2xf32>"
      " (%1) = \"toy.add\" (%0, %0) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"
      " () = \"toy.unknown\" (%1) {} : (tensor<2xf32>) -> ";
  const auto nested = ir::ParseProgram(context, Nested(100, ops), {.file_name = "f"});
  ASSERT_TRUE(nested.ok()) << nested.status().message();
  EXPECT_EQ(Applied(**nested, FreezeRules<AddToMul>(context)), 1u);
  const auto deep = ir::ParseProgram(context, Nested(10'000, ops), {.file_name = "f"});
  EXPECT_EQ(ir::Message(deep.status()), "f:1:9253: error: regions are nested more than 256 deep");
}

}  // namespace
}  // namespace weft::passes

#include "merge_gains.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/verifier.h"
#include "passes/greedy_driver.h"
#include "passes/pass_registry.h"

namespace gain {
namespace {

using weft::ir::Builder;
using weft::ir::Value;

class MergeGainsTest : public testing::Test {
 protected:
  MergeGainsTest() : program(&context), b(&program) {
    weft::ir::AddOps<Scale>(context);
    x = b.AddInput("x", context.TensorType(weft::ir::DataType::kF32, {2, 3}));
  }
  // Applies the rule as often as it matches.
  uint64_t Run() {
    weft::drr::RewritePatternSet set(&context);
    set.Add<MergeGains>();
    EXPECT_TRUE(set.errors().empty());
    const weft::drr::FrozenRewritePatternSet rules(std::move(set));
    const auto result = weft::passes::ApplyPatternsGreedily(program, rules);
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(weft::ir::Verify(program).message(), "");
    return result->rules[0].applied;
  }
  weft::ir::IrContext context;
  weft::ir::Program program;
  Builder b;
  Value x;
};

TEST_F(MergeGainsTest, MultipliesTheFactorsOfAChain) {
  Value v = x;
  for (float factor : {2.0f, 3.0f, 0.5f}) v = b.Make<Scale>({v}, {.factor = factor});
  b.Return({{"y", v}});
  EXPECT_EQ(Run(), 2u);
  const Value y = program.body().Terminator().operand(0);
  EXPECT_EQ(y.DefiningOp().operand(0), x);
  EXPECT_EQ(y.DefiningOp().attrs_of<Scale>().factor, 3.0f);
}

TEST_F(MergeGainsTest, LeavesAGainWithTwoReadersAlone) {
  const Value inner = b.Make<Scale>({x}, {.factor = 2.0f});
  b.Return({{"inner", inner}, {"y", b.Make<Scale>({inner}, {.factor = 3.0f})}});
  EXPECT_EQ(Run(), 0u);
}

TEST(Package, BringsThePassesThatRegisterThemselves) {
  EXPECT_FALSE(weft::passes::RegisteredPasses().empty());
}

}  // namespace
}  // namespace gain

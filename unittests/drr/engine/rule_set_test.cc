// Which rule of a set is tried first.
#include "drr/engine/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using testing::ElementsAre;
using toy::Relu;
using toy::Tanh;

class PatternSet : public Language {};

void OneOp(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  res.Tensor(src.Op<Relu>()(x)) = x;
}
void TwoOps(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  res.Tensor(src.Op<Relu>()(src.Op<Tanh>()(x))) = x;
}
struct OneOpOfBenefitFive : DrrPatternBase<OneOpOfBenefitFive> {
  static constexpr std::string_view kName = "one-op-of-benefit-five";
  static constexpr int kBenefit = 5;
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    ResultPattern res = src.ResultPattern();
    OneOp(src, res);
  }
};

TEST_F(PatternSet, TriesTheRuleOfLargerBenefitFirst) {
  RewritePatternSet set(&context);
  set.Add(Rule(OneOp).Build(&context));
  set.Add(Rule(TwoOps).Build(&context));
  set.Add(OneOpOfBenefitFive().Build(&context));
  const FrozenRewritePatternSet frozen(std::move(set));
  EXPECT_THAT(frozen.StartingAt(ir::kOpcodeOf<Relu>), ElementsAre(2, 1, 0));
  EXPECT_THAT(frozen.StartingAt(ir::kOpcodeOf<Tanh>), ElementsAre());
}

TEST_F(PatternSet, TriesRulesOfOneBenefitInTheirOrder) {
  RewritePatternSet set(&context);
  set.Add(Rule(TwoOps).Build(&context));
  set.Add(Rule(OneOp).Build(&context));
  set.Add(Rule(TwoOps).Build(&context));
  const FrozenRewritePatternSet frozen(std::move(set));
  EXPECT_THAT(frozen.StartingAt(ir::kOpcodeOf<Relu>), ElementsAre(0, 2, 1));
}

void UnboundOperand(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), unbound = src.Tensor("unbound");
  res.Tensor(src.Op<Relu>()(x)) = res.Op<Tanh>()(unbound);
}

TEST_F(PatternSet, OfARuleThatDoesNotBuildHasItsMistakeAsStatus) {
  RewritePatternSet set(&context);
  set.Add(Rule(OneOp).Build(&context));
  set.Add(Rule(UnboundOperand).Build(&context));
  ASSERT_EQ(set.errors().size(), 2u);
  const std::string first = set.errors()[0];
  const FrozenRewritePatternSet frozen(std::move(set));
  EXPECT_EQ(frozen.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ir::Message(frozen.status()),
            "a rule of the set does not build; correct it or leave it out: " + first +
                " (1 more in RewritePatternSet::errors())");
}

TEST_F(PatternSet, WithoutMistakesIsAllRight) {
  EXPECT_TRUE(FrozenRewritePatternSet().status().ok());
  RewritePatternSet set(&context);
  set.Add(Rule(OneOp).Build(&context));
  EXPECT_TRUE(FrozenRewritePatternSet(std::move(set)).status().ok());
}

}  // namespace
}  // namespace weft::drr

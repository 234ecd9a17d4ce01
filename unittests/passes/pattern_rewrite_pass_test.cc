// Which rules of its groups a pattern-rewrite pass runs.
#include "passes/pattern_rewrite_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "passes/pass_manager.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::passes {
namespace {

using drr::NumericClass;
using testing::ElementsAre;
using testing::IsEmpty;

// relu(x) => x, in three numeric classes and once as an opt-in rule
template <class Derived>
struct DropRelu : drr::DrrPatternBase<Derived> {
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<drr::toy::Relu>()(x);
    drr::ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
struct EligibleExact : DropRelu<EligibleExact> {
  static constexpr std::string_view kName = "eligible-exact";
  static constexpr NumericClass kNumerics = NumericClass::kExact;
};
struct EligibleReassociating : DropRelu<EligibleReassociating> {
  static constexpr std::string_view kName = "eligible-reassociating";
};
struct EligibleApproximate : DropRelu<EligibleApproximate> {
  static constexpr std::string_view kName = "eligible-approximate";
  static constexpr NumericClass kNumerics = NumericClass::kApproximate;
};
struct EligibleOptIn : DropRelu<EligibleOptIn> {
  static constexpr std::string_view kName = "eligible-opt-in";
  static constexpr NumericClass kNumerics = NumericClass::kExact;
};
WEFT_REGISTER_RULE(EligibleExact, "eligible");
WEFT_REGISTER_RULE(EligibleReassociating, "eligible");
WEFT_REGISTER_RULE(EligibleApproximate, "eligible");
WEFT_REGISTER_OPT_IN_RULE(EligibleOptIn, "eligible");

class EligibleRules : public testing::Test {
 protected:
  // "rule" for those that run and "rule: why" for the others, as a report has them.
  std::vector<std::string> Run(const PassContext& options) {
    ir::IrContext context;
    drr::toy::Load(context);
    ir::Program program(&context);
    ir::Builder b(&program);
    const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
    b.Return({{"y", b.Make<drr::toy::Relu>({x})}});
    PassManager pm(&context);
    pm.pass_context() = options;
    pm.AddPass(
        std::make_unique<PatternRewritePass>("eligible", "", std::vector<std::string>{"eligible"}));
    EXPECT_TRUE(pm.Run(program).ok());
    std::vector<std::string> names;
    uint64_t applied = 0;
    for (const RuleStatistics& rule : pm.reports()[0].rules) {
      names.push_back(rule.rule);
      applied += rule.applied;
    }
    EXPECT_EQ(applied, names.empty() ? 0u : 1u);
    for (const SkippedRule& rule : pm.reports()[0].skipped)
      names.push_back(rule.rule + ": " + rule.why);
    return names;
  }
};

TEST_F(EligibleRules, ReassociatingRulesRunByDefaultApproximateAndOptInOnesDoNot) {
  EXPECT_THAT(Run({}),
              ElementsAre("eligible-exact", "eligible-reassociating",
                          "eligible-approximate: its numeric class is approximate, the run allows "
                          "reassociates at most",
                          "eligible-opt-in: it is opt-in and not enabled"));
}

TEST_F(EligibleRules, TheContractOfTheRunLetsMoreOrFewerIn) {
  EXPECT_THAT(Run({.numerics = NumericClass::kExact}),
              ElementsAre("eligible-exact",
                          "eligible-approximate: its numeric class is approximate, the run allows "
                          "exact at most",
                          "eligible-opt-in: it is opt-in and not enabled",
                          "eligible-reassociating: its numeric class is reassociates, the run "
                          "allows exact at most"));
  EXPECT_THAT(Run({.numerics = NumericClass::kApproximate}),
              ElementsAre("eligible-approximate", "eligible-exact", "eligible-reassociating",
                          "eligible-opt-in: it is opt-in and not enabled"));
}

TEST_F(EligibleRules, RulesAreEnabledAndDisabledByName) {
  EXPECT_THAT(
      Run({.numerics = NumericClass::kExact,
           .disabled_rules = {"eligible-exact", "eligible-approximate", "eligible-reassociating"},
           .enabled_rules = {"eligible-opt-in"}}),
      ElementsAre("eligible-opt-in", "eligible-approximate: it is disabled",
                  "eligible-exact: it is disabled", "eligible-reassociating: it is disabled"));
}

TEST(FrozenRules, ServeTheNextRunWhenThoseEligibleAreTheSame) {
  ir::IrContext context, other;
  PatternRewritePass pass("eligible", "", {"eligible"});
  // The first of its rules, which is another object when they were frozen anew.
  const auto first_of = [&](ir::IrContext& of, const PassContext& options) {
    EXPECT_TRUE(pass.Initialize(of, options).ok());
    return pass.patterns()->rules().at(0).get();
  };
  for (ir::IrContext* each : {&context, &other}) drr::toy::Load(*each);

  const drr::Rule* const first = first_of(context, {});
  EXPECT_EQ(first_of(context, {}), first);
  EXPECT_EQ(pass.patterns()->rules().size(), 2u);
  EXPECT_EQ(first_of(context, {.disabled_rules = {"eligible-exact"}})->name,
            "eligible-reassociating");
  EXPECT_EQ(pass.patterns()->rules().size(), 1u);
  EXPECT_EQ(first_of(context, {})->name, "eligible-exact");

  const drr::Rule* const of_other = first_of(other, {});
  EXPECT_EQ(first_of(other, {}), of_other);
  EXPECT_EQ(pass.patterns()->rules().size(), 2u);
  // What such a function says may be another thing each time.
  const auto why_not = [](const drr::Rule& rule) {
    return std::string(rule.name == "eligible-exact" ? "too exact" : "");
  };
  EXPECT_EQ(first_of(other, {.why_not_rule = why_not})->name, "eligible-reassociating");
  EXPECT_EQ(first_of(other, {})->name, "eligible-exact");
}

}  // namespace
}  // namespace weft::passes

// WEFT_RULE: names, aliases, arithmetic in patterns, and the line of algebra that is printed.
#include "passes/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "drr/rule/algebra.h"
#include "drr/text/rule_text.h"
#include "ir/context.h"
#include "ir/dialects/onnx.h"
#include "passes/pattern_rewrite_pass.h"
#include "unittests/passes/shared_rule.h"

namespace weft::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// x * 2 + 1 => x
WEFT_RULE(ShortFormOfTests, "rules-test", kApproximate, .seed = "ai-system", .opt_in = true,
          .aliases = {"old-short-form", "older-short-form"}, .benefit = 9) {
  auto x = src.Tensor("x");
  auto out = x * 2 + 1;
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

TEST(WeftRule, IsNamedAfterItsClass) {
  const auto kebab = [](const auto& name) { return std::string(internal::KebabName(name).view()); };
  EXPECT_EQ(kebab("DropIdentity"), "drop-identity");
  EXPECT_EQ(kebab("BNFold2d"), "bn-fold2d");
  EXPECT_EQ(kebab("FuseHTTP"), "fuse-http");
  EXPECT_EQ(ShortFormOfTests::kName, "short-form-of-tests");
}

TEST(WeftRule, IsRegisteredWithWhatItSaysOfItself) {
  const RegisteredRule* rule = FindRule("short-form-of-tests");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->group, "rules-test");
  EXPECT_EQ(rule->seed, "ai-system");
  EXPECT_TRUE(rule->opt_in);
  EXPECT_EQ(rule->numerics, drr::NumericClass::kApproximate);
  ir::IrContext context;
  EXPECT_EQ(rule->build(&context).rule->benefit, 9);
}

TEST(WeftRule, IsFoundByItsAliases) {
  EXPECT_EQ(FindRule("old-short-form"), FindRule("short-form-of-tests"));
  EXPECT_EQ(CanonicalRuleName("older-short-form"), "short-form-of-tests");
  EXPECT_EQ(CanonicalRuleName("no-such-rule"), "no-such-rule");
}

TEST(WeftRule, IsEnabledAndDisabledByItsAliases) {
  const RegisteredRule& rule = *FindRule("old-short-form");
  PassContext run;
  run.numerics = drr::NumericClass::kChangesMeaning;
  EXPECT_EQ(WhyNotEligible(rule.name, rule.numerics, rule.opt_in, run),
            "it is opt-in and not enabled");
  run.enabled_rules = {"old-short-form"};
  EXPECT_EQ(WhyNotEligible(rule.name, rule.numerics, rule.opt_in, run), "");
  run.disabled_rules = {"older-short-form"};
  EXPECT_EQ(WhyNotEligible(rule.name, rule.numerics, rule.opt_in, run), "it is disabled");
}

TEST(WeftRule, PrintsItsAlgebra) {
  EXPECT_EQ(AlgebraOf(*FindRule("short-form-of-tests")),
            "add(mul(x, 2), 1) => x where x has the type of the result");
}

TEST(WeftRule, PrintsTheAlgebraOfAlternativesAndConstants) {
  EXPECT_EQ(AlgebraOf(*FindRule("fold-decided-logic")),
            "(and(x, 0) or or(x, 1)) => expand(scalar_of(0, 1), shape(the result)) "
            "where every size of the result is known");
  EXPECT_THAT(AlgebraOf(*FindRule("fold-zero-product")), HasSubstr("expand(scalar(x, 0), shape("));
}

TEST(WeftRule, NamesAnInnerOpOfTheKindOfTheRootWithoutALine) {
  EXPECT_THAT(AlgebraOf(*FindRule("merge-concats")),
              HasSubstr("nothing but the result uses the Concat"));
  EXPECT_THAT(AlgebraOf(*FindRule("merge-concats")), testing::Not(HasSubstr("line")));
}

TEST(WeftRule, PrintsTheTraitsOfAnOpOfAnyName) {
  EXPECT_EQ(AlgebraOf(*FindRule("sink-transpose-through-unary")),
            "any[pure elementwise](transpose(x, perm=p)) => "
            "transpose(any[pure elementwise](x), perm=p)");
}

TEST(WeftRule, PrintsAsTextThatIsReadBack) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const drr::BuildResult built = ShortFormOfTests::Build(&context);
  const std::string text = drr::text::PrintRule(*built.rule);
  EXPECT_THAT(text, testing::ContainsRegex("%[12] = onnx.Add\\(%0, %[23]\\)"));
  drr::text::Diagnostics mistakes("printed");
  std::vector<std::unique_ptr<drr::Rule>> read;
  drr::text::ParseRules(text, &context, nullptr, &mistakes, &read);
  ASSERT_EQ(read.size(), 1u) << text << testing::PrintToString(mistakes.errors());
  EXPECT_EQ(drr::text::PrintRule(*read[0]), text);
}

TEST(WeftRule, OfAHeaderIsRegisteredOnce) {  // symbolic_shapes_test.cc includes it too
  const std::vector<RegisteredRule> rules = RegisteredRules();
  EXPECT_EQ(std::count_if(
                rules.begin(), rules.end(),
                [](const RegisteredRule& rule) { return rule.name == SharedByTwoTests::kName; }),
            1);
}

// In two sources of one program, whose linker keeps one of two rules of one name.
TEST(RulesDeathTest, ARuleElsewhereMayNotHaveItsName) {
  EXPECT_DEATH(internal::AddRule(SharedByTwoTests::kName, "rules-test", SharedByTwoTests::kNumerics,
                                 {}, {"another.cc", 7}, &SharedByTwoTests::Build),
               "two rules are called shared-by-two-tests");
}

// --- mistakes are told with their own line ---------------------------------------------

constexpr int kLine = __LINE__;
void WithMistakes(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Relu>()(x);
  auto dead = x * 2;
  auto also_dead = 1 - x;
  (void)dead, (void)also_dead;
  res.Tensor(out) = x;
}

TEST(WeftRule, KeepsTheLineOfEveryOperator) {
  ir::IrContext context;
  const drr::BuildResult built =
      internal::BuildRule(&context, {"wrong"}, {__FILE__, kLine}, &WithMistakes);
  const auto at = [](int line) {
    return HasSubstr("rules_test.cc:" + std::to_string(line) + ": error: [wrong] onnx.");
  };
  EXPECT_THAT(built.errors, ElementsAre(at(kLine + 4), at(kLine + 5)));
}

}  // namespace
}  // namespace weft::passes

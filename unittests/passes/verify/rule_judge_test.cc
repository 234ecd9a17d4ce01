// The judge of rules: what is wrong is refuted, what is right is not.
#include "passes/verify/rule_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "kernels/runtime/program_runner.h"
#include "passes/verify/rule_instances.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::vector<std::unique_ptr<drr::Rule>> RulesOf(const std::string& file, ir::IrContext& context) {
  ir::LoadOnnxDialect(context);
  auto rules = fixtures::ReadRulesFile(fixtures::TestData("/passes/verify/") + file, context);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : std::vector<std::unique_ptr<drr::Rule>>();
}

RuleJudgement Judged(const drr::Rule& rule) {
  kernels::SessionRunner runner;
  return JudgeRule(rule, {.runner = &runner, .seeds = nullptr});
}

RuleJudgement JudgedNamed(const std::string& file, const std::string& name) {
  ir::IrContext context;
  for (const auto& rule : RulesOf(file, context))
    if (rule->name == name) return Judged(*rule);
  ADD_FAILURE() << "no rule " << name;
  return {};
}

TEST(BigRuleJudge, RefutesMistakesThatWereMade) {
  ir::IrContext context;
  const auto rules = RulesOf("wrong_rules.weft", context);
  EXPECT_GE(rules.size(), 25u);
  for (const auto& rule : rules) {
    const RuleJudgement judgement = Judged(*rule);
    EXPECT_EQ(judgement.verdict, Verdict::kRefuted)
        << rule->name << ": " << judgement.Badge() << " " << judgement.why;
  }
}

TEST(RuleJudge, RefutesNothingThatIsRight) {
  ir::IrContext context;
  for (const auto& rule : RulesOf("right_rules.weft", context)) {
    const RuleJudgement judgement = Judged(*rule);
    EXPECT_EQ(judgement.verdict, Verdict::kTested) << rule->name << ": " << judgement.why << "\n"
                                                   << judgement.counterexample;
    EXPECT_GE(judgement.instances, 10) << rule->name;
    EXPECT_GT(judgement.symbolic, 0) << rule->name;
  }
}

TEST(RuleJudge, ShowsTheSmallestProgramThatRefutes) {
  const RuleJudgement judgement = JudgedNamed("wrong_rules.weft", "subtraction-commutes");
  EXPECT_THAT(judgement.why, HasSubstr("not bit for bit the same"));
  EXPECT_THAT(judgement.counterexample, HasSubstr("\"onnx.Sub\" (%0, %1)"));
  EXPECT_THAT(judgement.counterexample, HasSubstr("// input 0: tensor<"));
  EXPECT_THAT(judgement.counterexample, HasSubstr("// after it: tensor<"));
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  EXPECT_TRUE(ir::ParseProgram(context, judgement.counterexample, {}).ok());
}

TEST(RuleJudge, NamesAConstraintThatWouldExcludeTheProgramsThatRefute) {
  const RuleJudgement judgement = JudgedNamed("wrong_rules.weft", "drop-transpose-of-equal-shapes");
  EXPECT_THAT(judgement.counterexample,
              ContainsRegex("\n// it would be excluded by: require \"[^\n]+\" "
                            "(identity|only_unit_dims_move)\\("));
}

TEST(RuleJudge, MeasuresHowFarAnApproximationIsOff) {
  const RuleJudgement judgement = JudgedNamed("right_rules.weft", "tanh-gelu");
  EXPECT_THAT(judgement.Badge(), ContainsRegex("^approximate: [0-9.e+]+ ulp$"));
  EXPECT_EQ(judgement.BadgeKind(), "approximate");
  EXPECT_FALSE(judgement.cut_short);
  EXPECT_GT(judgement.max_ulps, 1);
  EXPECT_LT(judgement.mean_ulps, judgement.max_ulps);
}

TEST(RuleJudge, SaysWhyItFoundNoProgram) {
  ir::IrContext context;
  for (const auto& rule : RulesOf("impossible_rules.weft", context)) {
    const RuleJudgement judgement = Judged(*rule);
    EXPECT_EQ(judgement.verdict, Verdict::kUnjudged);
    EXPECT_THAT(judgement.why, ContainsRegex("does not hold: x has rank [23]"));
  }
}

TEST(RuleJudge, TestsNothingWithoutElementsAndNothingHuge) {
  ir::IrContext context;
  const std::map<std::string, std::string> why = {
      {"result-without-elements", "of which a result has an element"},
      {"result-of-gigabytes", "a value has more than 4194304 elements"}};
  for (const auto& rule : RulesOf("untestable_rules.weft", context)) {
    const RuleJudgement judgement = Judged(*rule);
    EXPECT_EQ(judgement.verdict, Verdict::kUnjudged) << rule->name;
    EXPECT_THAT(judgement.why, HasSubstr(why.at(rule->name)));
  }
}

TEST(RuleJudge, AppliesNoRuleAlongAnAxisThatNoTensorHas) {
  ir::IrContext context;
  for (const auto& rule : RulesOf("far_axis.weft", context)) {
    const RuleJudgement judgement = Judged(*rule);
    EXPECT_EQ(judgement.verdict, Verdict::kUnjudged);
    EXPECT_THAT(judgement.why, HasSubstr("attribute perm of onnx.Transpose cannot be computed"));
  }
}

TEST(RuleJudge, DrawsNoTensorOfARankThatNoneHas) {
  ir::IrContext context;
  for (const auto& rule : RulesOf("far_rank.weft", context))
    EXPECT_EQ(Judged(*rule).verdict, Verdict::kUnjudged);
}

// A solver is asked once, where drawing finds nothing.
TEST(RuleInstances, AreSoughtElsewhereWhereNoneIsFound) {
  ir::IrContext context;
  const auto times_asked = [&](const std::string& file) {
    int asked = 0;
    const auto rules = RulesOf(file, context);
    InstanceOptions options{.wanted = 1, .attempts = 400};
    options.when_stuck = [&] {
      ++asked;
      return std::vector<Assignment>();
    };
    const bool is_found = !MakeInstances(*rules[0], options, nullptr).empty();
    EXPECT_EQ(is_found, asked == 0) << rules[0]->name;
    return asked;
  };
  EXPECT_EQ(times_asked("impossible_rules.weft"), 1);
  EXPECT_EQ(times_asked("right_rules.weft"), 0);
}

TEST(RuleJudge, EndsWhenItsTimeIsOver) {
  ir::IrContext context;
  kernels::SessionRunner runner;
  for (const auto& rule : RulesOf("right_rules.weft", context)) {
    const RuleJudgement none =
        JudgeRule(*rule, {.runner = &runner, .seconds = 0, .seeds = nullptr});
    EXPECT_EQ(none.verdict, Verdict::kUnjudged);
    EXPECT_TRUE(none.cut_short);
    EXPECT_THAT(none.why, HasSubstr("0 s did not suffice; no program found"));
  }
}

TEST(RuleJudge, GivesTheSameJudgementEveryTime) {
  const RuleJudgement first = JudgedNamed("wrong_rules.weft", "mean-is-sum"),
                      again = JudgedNamed("wrong_rules.weft", "mean-is-sum");
  EXPECT_EQ(first.counterexample, again.counterexample);
  EXPECT_EQ(first.comparisons, again.comparisons);
}

}  // namespace
}  // namespace weft::passes

// Mistakes made in rules that are right, and whether the judge finds them.
#include "passes/verify/mutation/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "ir/text/parser.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/mutation/mistakes.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BigMutants : public testing::Test {
 protected:
  BigMutants() { fixtures::LoadGoldenDialects(context_); }

  std::vector<Mutant> Of(const std::string& rule) {
    for (const RegisteredRule& registered : RegisteredRules())
      if (registered.name == rule) return MutantsOf(*registered.build(&context_).rule);
    ADD_FAILURE() << "no rule " << rule;
    return {};
  }
  std::vector<Mutant> Of(const std::string& rule, Mutant::Kind kind) {
    std::vector<Mutant> mutants;
    for (Mutant& mutant : Of(rule))
      if (mutant.kind == kind) mutants.push_back(std::move(mutant));
    return mutants;
  }
  static RuleJudgement Judged(const Mutant& mutant, int instances = 24) {
    kernels::SessionRunner runner;
    return JudgeRule(mutant.rule, {.runner = &runner,
                                   .instances = instances,
                                   .inputs = 1,
                                   .seconds = 200,
                                   .stop_at_refutation = true,
                                   .seeds = nullptr});
  }
  // As tools/rule_mutants does: by programs alone on which it does not what its rule does.
  RuleJudgement JudgedBesides(const std::string& name, const Mutant& mutant) {
    kernels::SessionRunner runner;
    const drr::BuildResult built = FindRule(name)->build(&context_);
    return JudgeRule(mutant.rule, {.runner = &runner,
                                   .instances = 48,
                                   .inputs = 1,
                                   .seconds = 200,
                                   .original = &*built.rule,
                                   .stop_at_refutation = true,
                                   .seeds = nullptr});
  }
  void ExpectRefuted(const std::string& rule, Mutant::Kind kind) {
    const std::vector<Mutant> mutants = Of(rule, kind);
    EXPECT_FALSE(mutants.empty()) << rule;
    for (const Mutant& mutant : mutants)
      EXPECT_EQ(Judged(mutant).verdict, Verdict::kRefuted)
          << mutant.rule.name << ": " << mutant.what;
  }

  ir::IrContext context_;
};

// What the engine refuses where it knows all sizes is right only as long as it does.
TEST_F(BigMutants, WithoutAConstraintAreRefuted) {
  ExpectRefuted("drop-identity-transpose", Mutant::kDroppedConstraint);
  ExpectRefuted("drop-unit-factor", Mutant::kDroppedConstraint);
  ExpectRefuted("drop-noop-reshape", Mutant::kDroppedConstraint);
}

// Of a value that is in each match the number in its place is never read.
TEST_F(BigMutants, WithANumberThatIsNeverReadAreHarmless) {
  const auto harmless = [&](const std::string& rule) {
    std::string why = "no such mutant";
    for (const Mutant& mutant : Of(rule, Mutant::kChangedAttribute))
      if (mutant.what == "otherwise computed fill of fused.attention") why = mutant.harmless;
    return why;
  };
  EXPECT_THAT(harmless("fuse-masked-fill-attention"), HasSubstr("never absent"));
  EXPECT_EQ(harmless("fuse-attention"), "");
}

// What is asked for is that the attribute of the mutant can be computed: with 1 at last also of windows that
// hold padding alone.
TEST_F(BigMutants, WithALooserComputationAskForNoMore) {
  std::vector<int64_t> asked;
  for (const Mutant& mutant : Of("fold-zero-pad-into-max-pool", Mutant::kChangedAttribute))
    for (const drr::Constraint& constraint : mutant.rule.graph.constraints)
      if (mutant.what == "otherwise computed pads of onnx.MaxPool" &&
          constraint.formula.name == "joined_pads")
        asked.push_back(constraint.formula.arguments[3].literal.AsInt());
  EXPECT_THAT(asked, ElementsAre(2, 1));  // operands the other way round; the number
}

// x / c comes before x * c where scores are scaled; where queries and keys are, nothing does.
TEST_F(BigMutants, ThatAnAlternativeBeforeThemTakesAreHarmless) {
  size_t shadowed = 0, others = 0;
  for (const Mutant& mutant : Of("fuse-attention", Mutant::kReplacedOperation)) {
    if (mutant.what != "matches onnx.Div for onnx.Mul") continue;
    ++(mutant.harmless.empty() ? others : shadowed);
  }
  EXPECT_EQ(shadowed, 1u);
  EXPECT_EQ(others, 2u);
}

// A maximum with 0 is a choice there, and what it is taken of is another.
TEST_F(BigMutants, ThatMakeWhatAnotherAlternativeIsAreHarmless) {
  std::map<std::string, std::string> harmless;
  for (const Mutant& mutant : Of("fuse-uncentred-layer-norm", Mutant::kReplacedOperation))
    harmless[mutant.what] = mutant.harmless;
  EXPECT_THAT(harmless["matches onnx.Add for onnx.Max"], HasSubstr("another alternative"));
  EXPECT_THAT(harmless["matches onnx.Sub for onnx.Max"], HasSubstr("another alternative"));
  EXPECT_EQ(harmless.at("matches onnx.Sub for onnx.Add"), "");
}

TEST_F(BigMutants, ThatDifferWhereNothingIsComputedAreCounted) {
  constexpr std::string_view kEmpty = R"(module {} (%0: tensor<0x0xf32>) {
    (%1) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<0x0xf32>) -> tensor<0x0xf32>
    (%2) = "onnx.Relu" (%1) {} : (tensor<0x0xf32>) -> tensor<0x0xf32>
    () = "builtin.return" (%2) {} : (tensor<0x0xf32>) -> 
  })";
  const drr::BuildResult built = FindRule("drop-identity-transpose")->build(&context_);
  drr::Rule mutant = *built.rule;
  mutant.graph.constraints.clear();
  kernels::SessionRunner runner;
  JudgeOptions options{
      .runner = &runner, .attempts = 0, .original = &*built.rule, .variants = 0, .seeds = nullptr};
  options.seeds = [&](const drr::Rule&) {
    std::vector<std::unique_ptr<ir::Program>> programs;
    programs.push_back(*ir::ParseProgram(context_, kEmpty, {}));
    return programs;
  };
  const RuleJudgement judgement = JudgeRule(mutant, options);
  EXPECT_EQ(judgement.verdict, Verdict::kUnjudged);
  EXPECT_EQ(judgement.empty, 1);
  EXPECT_EQ(judgement.differing, 0);
}

TEST_F(BigMutants, WithAnotherConstraintAreRefuted) {
  ExpectRefuted("drop-neutral-zero", Mutant::kChangedConstraint);
}

TEST_F(BigMutants, WithSwappedOperandsAreRefuted) {
  ExpectRefuted("fold-log-of-exp-quotient", Mutant::kSwappedOperands);
}

TEST_F(BigMutants, WithAnotherAttributeAreRefuted) {
  ExpectRefuted("merge-transposes", Mutant::kChangedAttribute);
}

TEST_F(BigMutants, ThatMatchAnyAttributeAreRefuted) {
  ExpectRefuted("fuse-hard-swish", Mutant::kLooserAttribute);
}

TEST_F(BigMutants, WithAnotherOperationAreRefuted) {
  ExpectRefuted("fuse-hard-swish", Mutant::kReplacedOperation);
  ExpectRefuted("fold-log-of-exp-quotient", Mutant::kReplacedOperation);
}

TEST_F(BigMutants, ThatClaimMoreThanTheyDoAreRefuted) {
  ExpectRefuted("drop-zero-term", Mutant::kStricterClass);
  ExpectRefuted("fuse-gelu", Mutant::kStricterClass);
}

TEST_F(BigMutants, WhoseIntermediateValuesHaveOtherUsersStayRight) {
  const std::vector<Mutant> mutants = Of("fuse-hard-swish", Mutant::kLooserEscape);
  ASSERT_EQ(mutants.size(), 1u);
  EXPECT_EQ(mutants[0].harmless, "what others read stays as it was");
  EXPECT_EQ(Judged(mutants[0]).verdict, Verdict::kTested);
}

// A fused op computes other floats, too; whole numbers it refuses.
TEST_F(BigMutants, WithoutTheFloatTypeStayRight) {
  for (const Mutant& mutant : Of("fuse-tanh-gelu", Mutant::kDroppedConstraint)) {
    if (mutant.what != "without: x is f32") continue;
    EXPECT_THAT(mutant.harmless, HasSubstr("each type of floats"));
    const RuleJudgement judgement = JudgedBesides("fuse-tanh-gelu", mutant);
    EXPECT_EQ(judgement.verdict, Verdict::kTested) << judgement.counterexample;
    EXPECT_GE(judgement.differing, 1);
    return;
  }
  FAIL() << "no such mutant";
}

// Nor what they have on the way: the rule computes the same real numbers.
TEST_F(BigMutants, ThatMatchAnyPrecisionAreHarmless) {
  std::map<std::string, std::string> harmless;
  for (const Mutant& mutant : Of("fuse-group-normalization", Mutant::kLooserAttribute))
    harmless[mutant.what] = mutant.harmless;
  EXPECT_THAT(harmless["any stash_type of onnx.GroupNormalization"],
              HasSubstr("each type of floats"));
}

// Each of three alternatives binds the axis: without that of one nothing else would.
TEST_F(BigMutants, LeaveNoVariableUnbound) {
  EXPECT_THAT(Of("fuse-layer-norm-bias", Mutant::kLooserAttribute), IsEmpty());
}

TEST_F(BigMutants, AreNotMadeOfARuleThatChangesMeaning) {
  EXPECT_THAT(Of("lower-resize-to-nearest"), IsEmpty());
}

TEST_F(BigMutants, OfAllRulesAreMany) {
  std::map<Mutant::Kind, size_t> count;
  size_t all = 0;
  for (const RegisteredRule& rule : RegisteredRules())
    for (const Mutant& mutant : MutantsOf(*rule.build(&context_).rule)) ++count[mutant.kind], ++all;
  EXPECT_GE(all, 500u);
  for (int kind = 0; kind <= Mutant::kLooserEscape; ++kind)
    EXPECT_GT(count[static_cast<Mutant::Kind>(kind)], 10u)
        << MutantName(static_cast<Mutant::Kind>(kind));
}

// A mask in place of what is kept is refused, for its element type.
TEST_F(BigMutants, AreToldFromWhatTheirRuleDoes) {
  for (const Mutant& mutant : Of("fuse-attention", Mutant::kSwappedOperands)) {
    if (mutant.what.find("operands 3 and 4") == std::string::npos) continue;
    const RuleJudgement judgement = JudgedBesides("fuse-attention", mutant);
    EXPECT_EQ(judgement.verdict, Verdict::kUnjudged) << mutant.what;
    EXPECT_EQ(judgement.differing, 0);
    EXPECT_GE(judgement.refused, 20);
  }
  for (const Mutant& mutant : Of("drop-unit-factor", Mutant::kDroppedConstraint)) {
    const RuleJudgement judgement = JudgedBesides("drop-unit-factor", mutant);
    EXPECT_EQ(judgement.verdict, Verdict::kRefuted) << mutant.what;
    EXPECT_GE(judgement.differing, 1);
  }
}

// Native code that follows a constraint may rely on it.
TEST_F(BigMutants, KeepTheConstraintsThatNativeCodeMayRelyOn) {
  for (const Mutant& mutant : Of("lower-einsum-to-product", Mutant::kDroppedConstraint))
    EXPECT_THAT(mutant.what, HasSubstr("nothing is summed"));
}

TEST(Mistakes, AreOfTheSameKindAndSayOtherwise) {
  ir::IrContext context;
  EXPECT_THAT(OtherValues(context, context.IntAttr(1), nullptr), ElementsAre(context.IntAttr(0)));
  EXPECT_THAT(OtherValues(context, context.IntAttr(-1), nullptr), ElementsAre(context.IntAttr(0)));
  EXPECT_THAT(OtherValues(context, context.BoolAttr(true), nullptr),
              ElementsAre(context.BoolAttr(false)));
  const auto ints = [&](const ir::Ints& list) { return context.IntsAttr(list); };
  EXPECT_THAT(OtherValues(context, ints({0, 2, 1}), nullptr),
              ElementsAre(ints({2, 1, 0}), ints({0, 1, 2})));
  EXPECT_THAT(OtherValues(context, ints({1, 1}), nullptr), IsEmpty());
}

}  // namespace
}  // namespace weft::passes

// Proofs of rules: what is true for all sizes is proved, what is false for some is not.
#include "passes/verify/proof/rule_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/badges.h"
#include "passes/verify/proof/solver.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::unique_ptr<drr::Rule>> RulesOf(const std::string& file, ir::IrContext& context) {
  fixtures::LoadGoldenDialects(context);
  auto rules = fixtures::ReadRulesFile(fixtures::TestData("/passes/verify/") + file, context);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : std::vector<std::unique_ptr<drr::Rule>>();
}

// A proof that needs seconds needs tens of them with sanitizers.
constexpr ProofOptions kPatient = {.milliseconds = 20'000, .seconds = 300};
constexpr ProofOptions kPatientAlsoVacuously = {
    .milliseconds = 20'000, .seconds = 300, .vacuously = true};

RuleProof ProofOf(const std::string& rule) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const drr::BuildResult built = FindRule(rule)->build(&context);
  return ProveRule(*built.rule, kPatient);
}

// Without Z3 every test but one is about nothing.
class RuleProofs : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasSolver()) GTEST_SKIP() << "built without Z3";
  }
};

TEST_F(RuleProofs, AreFoundForWhatIsTrue) {
  ir::IrContext context;
  const auto rules = RulesOf("proof/true_rules.weft", context);
  EXPECT_GE(rules.size(), 10u);
  for (const auto& rule : rules) {
    const RuleProof proof = ProveRule(*rule, kPatient);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << rule->name << ": " << proof.why;
    EXPECT_THAT(proof.what, StartsWith("all sizes"));
  }
}

TEST_F(RuleProofs, AreNotFoundForWhatIsFalse) {
  for (const std::string file : {"proof/false_rules.weft", "wrong_rules.weft"}) {
    ir::IrContext context;
    const auto rules = RulesOf(file, context);
    EXPECT_GE(rules.size(), 20u);
    for (const auto& rule : rules) {
      const RuleProof proof = ProveRule(*rule, kPatient);
      EXPECT_NE(proof.verdict, ProofVerdict::kProved) << rule->name << ": " << proof.what;
      EXPECT_NE(proof.why, "") << rule->name;
    }
  }
}

class BigRuleProofs : public RuleProofs {};

// What the proofs take fused and composite ops to be is what their kernels compute.
TEST_F(BigRuleProofs, ReadOpsAsKernelsComputeThem) {
  ir::IrContext context;
  const auto rules = RulesOf("proof/op_meanings.weft", context);
  EXPECT_GE(rules.size(), 10u);
  for (const auto& rule : rules) {
    const RuleProof proof = ProveRule(*rule, kPatient);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << rule->name << ": " << proof.why;
    kernels::SessionRunner runner;
    const RuleJudgement judgement = JudgeRule(*rule, {.runner = &runner, .seeds = nullptr});
    EXPECT_EQ(judgement.verdict, Verdict::kTested) << rule->name << ": " << judgement.why << "\n"
                                                   << judgement.counterexample;
  }
}

bool HasNamedConstraintsOnly(const drr::Rule& rule) {
  return std::all_of(rule.graph.constraints.begin(), rule.graph.constraints.end(),
                     [](const auto& constraint) {
                       return constraint.profitable || !constraint.formula.name.empty();
                     });
}

// By their badges, of which BigEveryRule says whether they are right.
TEST_F(RuleProofs, AreFoundForMostRulesWithNamedConstraints) {
  std::string others;
  int named = 0, proved = 0;
  for (const RegisteredRule& registered : RegisteredRules()) {
    if (std::string_view(registered.loc.file).find("unittests/") != std::string_view::npos)
      continue;
    ir::IrContext context;
    fixtures::LoadGoldenDialects(context);
    const drr::BuildResult built = registered.build(&context);
    ASSERT_TRUE(built.ok()) << built.errors[0];
    if (!HasNamedConstraintsOnly(*built.rule)) continue;
    ++named;
    const bool is_proved = BadgeOf(registered.name) == "proved";
    proved += is_proved;
    if (!is_proved) others += built.rule->name + "\n";
  }
  EXPECT_GE(named, 60);
  EXPECT_GE(10 * proved, 6 * named) << "not proved:\n" << others;
}

// By rule, whether each constraint follows from the others: 1 where it does, in their order.
TEST_F(RuleProofs, SayWhichConstraintsFollowFromTheOthers) {
  const std::map<std::string, std::string> expected = {
      {"matrices-of-one-rank", "0010"}, {"axes-of-a-product", "010"},
      {"an-axis-near-two", "11"},       {"only-known-sizes", "1"},
      {"a-size-that-is-free", "00"},    {"sizes-of-a-gemm", "1111"},
      {"sizes-of-a-linear", "11110"},   {"channels-of-a-convolution", "11110"},
      {"rows-of-a-reshape", "0011"},    {"a-product-in-a-sum", "001"},
  };
  ir::IrContext context;
  const auto rules = RulesOf("proof/following_constraints.weft", context);
  EXPECT_EQ(rules.size(), expected.size());
  for (const auto& rule : rules) {
    std::string following;
    for (size_t i = 0; i < rule->graph.constraints.size(); ++i) {
      drr::Rule without = *rule;
      auto& constraints = without.graph.constraints;
      constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(i));
      const RuleProof proof =
          ProveFollows(without, rule->graph.constraints[i].formula, kPatientAlsoVacuously);
      following += proof.verdict == ProofVerdict::kProved ? '1' : '0';
    }
    const auto at = expected.find(rule->name);
    ASSERT_NE(at, expected.end()) << rule->name;
    EXPECT_EQ(following, at->second) << rule->name;
  }
}

// The ranks of what is added to a product make thousands of cases, of which its own rank needs none.
TEST_F(RuleProofs, FollowFromAPartOfALargeRule) {
  ir::IrContext context;
  const auto rules = RulesOf("proof/following_constraints.weft", context);
  const auto rule = std::find_if(rules.begin(), rules.end(), [](const auto& candidate) {
    return candidate->name == "a-product-in-a-sum";
  });
  ASSERT_NE(rule, rules.end());
  drr::Rule without = **rule;
  without.graph.constraints.pop_back();
  const RuleProof proof =
      ProveFollows(without, (*rule)->graph.constraints.back().formula, kPatientAlsoVacuously);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.why;
  EXPECT_LE(proof.cases, 10u);
}

TEST_F(RuleProofs, SayForWhat) {
  EXPECT_EQ(ProofOf("merge-transposes").what, "all sizes, ranks up to 5, any element type");
  EXPECT_EQ(ProofOf("drop-unit-factor").what, "all sizes, ranks up to 5, each element type");
  EXPECT_EQ(ProofOf("drop-zero-term").what, "all sizes, ranks up to 5, over the reals");
  EXPECT_THAT(ProofOf("merge-concats").what, HasSubstr("lists of up to 2"));
}

TEST_F(RuleProofs, SayWhatTheyCouldNotProve) {
  EXPECT_THAT(ProofOf("drop-unit-exponent").why, HasSubstr("is not provably the same (rank of x"));
}

TEST(RuleProof, IsNotAttemptedWhereNothingIsToBeProved) {
  if (!HasSolver()) {
    EXPECT_EQ(ProofOf("merge-transposes").why, "no proofs without Z3");
    return;
  }
  const RuleProof proof = ProofOf("fold-zero-product");
  EXPECT_EQ(proof.verdict, ProofVerdict::kNotAttempted);
  EXPECT_EQ(proof.why, "the rule is approximate");
}

}  // namespace
}  // namespace weft::passes

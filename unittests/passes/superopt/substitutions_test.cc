// The committed substitutions: what the generator prints today, and every rule on a program made from
// its own pattern.
#include "passes/superopt/substitutions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "drr/rule_file.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/program_runner.h"
#include "passes/superopt/generator/rule_text.h"
#include "passes/verify/rule_judge.h"
#include "unittests/test_paths.h"

namespace weft::passes::substitution {
namespace {

const std::string kFile = fixtures::TestData("/../passes/superopt/substitutions.weft");
constexpr int kDepth = 3;

TEST(SubstitutionRules, AreWhatTheGeneratorPrints) {
  const auto generated = Generate({.depth = kDepth});
  ASSERT_TRUE(generated.ok()) << generated.status();
  std::ostringstream committed;
  committed << std::ifstream(kFile, std::ios::binary).rdbuf();
  // Not EXPECT_EQ, which would print both.
  EXPECT_TRUE(RuleFileText(*generated, kDepth) == committed.str())
      << "run: substitution-generator -o passes/superopt/substitutions.weft";
  EXPECT_TRUE(RulesText() == committed.str());
}

class EverySubstitution : public testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 8;
};

TEST_P(EverySubstitution, IsTestedAndNotRefuted) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const drr::text::RuleFile file = drr::text::ReadRules(RulesText(), "substitutions", &context);
  ASSERT_TRUE(file.errors.empty()) << file.errors[0];
  ASSERT_GT(file.rules.size(), 400u);
  kernels::SessionRunner runner;
  for (size_t i = GetParam(); i < file.rules.size(); i += kParts) {
    const RuleJudgement judgement = JudgeRule(
        *file.rules[i], {.runner = &runner, .instances = 3, .inputs = 1, .seeds = nullptr});
    EXPECT_EQ(judgement.verdict, passes::Verdict::kTested)
        << judgement.rule << ": " << judgement.why << "\n"
        << judgement.counterexample;
  }
}

INSTANTIATE_TEST_SUITE_P(Part, EverySubstitution, testing::Range(0, EverySubstitution::kParts));

}  // namespace
}  // namespace weft::passes::substitution

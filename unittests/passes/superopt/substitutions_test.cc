// The committed substitutions: what the generator prints today, and every rule on a program made from
// its own pattern.
#include "passes/superopt/substitutions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "drr/rule_file.h"
#include "ir/dialects/onnx.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/analysis/rule_witness.h"
#include "passes/superopt/generator/rule_text.h"
#include "unittests/fixtures/numeric.h"

namespace weft::passes::substitution {
namespace {

constexpr const char* kFile = WEFT_TEST_DATA_DIR "/../passes/superopt/substitutions.weft";
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

// A copy of the program in which the rule was applied once: most rules fit what they make.
std::unique_ptr<ir::Program> ApplyOnce(const drr::Rule& rule, const Witness& witness) {
  std::unique_ptr<ir::Program> copy = witness.program->Clone();
  std::vector<ir::Operation> ops, copies;
  ir::Walk(*witness.program, [&](ir::Operation op) { ops.push_back(op); });
  ir::Walk(*copy, [&](ir::Operation op) { copies.push_back(op); });
  const size_t at = std::find(ops.begin(), ops.end(), witness.site) - ops.begin();
  drr::MatchContext match(&rule);
  std::string reason;
  ir::Rewriter rewriter(copy.get());
  EXPECT_TRUE(drr::Matcher(rule).Match(copies[at], &match)) << rule.name;
  EXPECT_TRUE(drr::Apply(match, rewriter, &reason)) << rule.name << ": " << reason;
  return copy;
}

// Whether some of the programs could tell a wrong rule: inputs may be constants that are all zero.
bool KeepsNumbers(const drr::Rule& rule, const std::vector<Witness>& witnesses) {
  fixtures::NumericOptions options = {.seeds = 2};
  if (rule.numerics == drr::NumericClass::kExact) options.tolerance = 0;
  bool tested = false;
  for (const Witness& witness : witnesses) {
    const std::string before = ir::PrintProgram(*witness.program);
    const auto after = ApplyOnce(rule, witness);
    EXPECT_NE(ir::PrintProgram(*after), before) << rule.name;
    const testing::AssertionResult same = fixtures::SameNumbers(*witness.program, *after, options);
    const bool tests_nothing =
        std::string_view(same.message()).find("test nothing") != std::string_view::npos;
    EXPECT_TRUE(same || tests_nothing) << rule.name << "\n" << before;
    tested |= same;
  }
  return tested;
}

class EverySubstitution : public testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 8;
};

TEST_P(EverySubstitution, FiresAndKeepsNumbers) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const drr::text::RuleFile file = drr::text::ReadRules(RulesText(), "substitutions", &context);
  ASSERT_TRUE(file.errors.empty()) << file.errors[0];
  ASSERT_GT(file.rules.size(), 400u);
  for (size_t i = GetParam(); i < file.rules.size(); i += kParts) {
    const drr::Rule& rule = *file.rules[i];
    std::string why;
    bool tested = false;
    for (uint64_t seed = 1; seed <= 5 && !tested; ++seed)
      tested = KeepsNumbers(rule, MakeWitnesses(context, rule, {.wanted = 2, .seed = seed}, &why));
    EXPECT_TRUE(tested) << rule.name << ": " << rule.algebra << "\n" << why;
  }
}

INSTANTIATE_TEST_SUITE_P(Part, EverySubstitution, testing::Range(0, EverySubstitution::kParts));

}  // namespace
}  // namespace weft::passes::substitution

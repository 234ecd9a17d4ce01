// Big, which takes a minute: every registered rule, judged on programs made from it and on those of its golden tests.
#include <gtest/gtest.h>

#include <ostream>

#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {

// The name of a parameter, which would be 128 bytes in hexadecimal.
static void PrintTo(const RegisteredRule& rule, std::ostream* out) { *out << rule.name; }

namespace {

std::vector<std::unique_ptr<ir::Program>> GoldenPrograms(const drr::Rule& rule) {
  std::vector<std::unique_ptr<ir::Program>> programs;
  const std::string folder = fixtures::GoldenFolder(WEFT_TEST_DATA_DIR "/passes", rule.name);
  for (const std::string& name : fixtures::FiringGoldenFiles(folder)) {
    const auto file = fixtures::ReadGoldenFile(folder + "/" + name);
    if (!file.ok() || !file->numeric.empty()) continue;
    auto program = fixtures::ParseGoldenProgram(*file, *rule.graph.context());
    if (program.ok()) programs.push_back(*std::move(program));
  }
  return programs;
}

class BigEveryRule : public testing::TestWithParam<RegisteredRule> {};

TEST_P(BigEveryRule, IsTestedAndNotRefuted) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const drr::BuildResult built = GetParam().build(&context);
  ASSERT_TRUE(built.ok()) << built.errors[0];
  kernels::SessionRunner runner;
  const RuleJudgement judgement = JudgeRule(
      *built.rule, {.runner = &runner, .instances = 12, .inputs = 1, .seeds = &GoldenPrograms});
  EXPECT_NE(judgement.verdict, Verdict::kRefuted) << judgement.why << "\n"
                                                  << judgement.counterexample;
  // Nothing runs Paddle's ops but tests (unittests/passes/pd).
  if (GetParam().group != "paddle") EXPECT_EQ(judgement.verdict, Verdict::kTested) << judgement.why;
}

// Not those that other tests register.
std::vector<RegisteredRule> LibraryRules() {
  std::vector<RegisteredRule> rules = RegisteredRules();
  std::erase_if(rules, [](const RegisteredRule& rule) {
    return std::string_view(rule.loc.file).find("unittests/") != std::string_view::npos;
  });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(Big, BigEveryRule, testing::ValuesIn(LibraryRules()),
                         [](const auto& info) {
                           return fixtures::GoldenTestName(std::string(info.param.name));
                         });

}  // namespace
}  // namespace weft::passes

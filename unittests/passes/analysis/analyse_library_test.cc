// The rule library itself, analysed on the programs of its golden tests and on generated ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/analysis/analyse_rules.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

class BigRuleLibrary : public testing::TestWithParam<const char*> {
 protected:
  // The programs that the golden tests of the rule rewrite.
  static std::vector<std::unique_ptr<ir::Program>> GoldenPrograms(ir::IrContext& context,
                                                                  const drr::Rule& rule) {
    std::vector<std::unique_ptr<ir::Program>> programs;
    const std::string folder = fixtures::GoldenFolder(fixtures::TestData("/passes"), rule.name);
    for (const std::string& name : fixtures::GoldenFiles(folder)) {
      const auto file = fixtures::ReadGoldenFile(folder + "/" + name);
      if (!file.ok() || file->near_miss) continue;
      auto program = fixtures::ParseGoldenProgram(*file, context);
      if (program.ok()) programs.push_back(*std::move(program));
    }
    return programs;
  }
};

TEST_P(BigRuleLibrary, HasNoRulesThatUndoGrowOrShadow) {
  const std::unique_ptr<Pass> pass = MakePass(GetParam());
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  ASSERT_TRUE(pass->Initialize(context, {.numerics = drr::NumericClass::kApproximate}).ok());
  AnalysisOptions options{.instances = {.attempts = 300}};
  options.seeds = [&](const drr::Rule& rule) { return GoldenPrograms(context, rule); };
  const RuleAnalysis analysis = AnalyseRules(context, *pass->patterns(), options);
  for (const RuleFinding& finding : analysis.findings)
    ADD_FAILURE() << testing::PrintToString(finding.rules) << " " << FindingName(finding.kind)
                  << ": " << finding.what << "\n"
                  << finding.witness;
  for (const SkippedRule& rule : analysis.not_analysed)
    ADD_FAILURE() << rule.rule << " is not analysed: " << rule.why;
  EXPECT_EQ(analysis.analysed, pass->patterns()->rules().size());
  EXPECT_GT(analysis.pairs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Big, BigRuleLibrary,
                         testing::Values("canonicalize", "named-operators", "fuse-composite",
                                         "fuse-quantized", "layout", "layout-cleanup",
                                         "fuse-epilogue", "onnxruntime", "paddle", "ascend",
                                         "litert"),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

}  // namespace
}  // namespace weft::passes

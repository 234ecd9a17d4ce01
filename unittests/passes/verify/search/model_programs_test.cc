// Programs from models that a solver finds.
#include "passes/verify/search/model_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "ir/text/parser.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/match_assignment.h"
#include "passes/verify/mutation/mutants.h"
#include "passes/verify/proof/solver.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

// Two heads of k and of v, each for three of q.
constexpr std::string_view kHeads =
    R"(module {} (%0: tensor<2x6x3x4xf32>, %1: tensor<2x2x5x4xf32>, %2: tensor<2x2x5x4xf32>) {
  (%3) = "builtin.constant" () {value:dense<tensor<1xi64>, [2]>} : () -> tensor<1xi64>
  (%4) = "builtin.constant" () {value:dense<tensor<5xi64>, [2,2,3,5,4]>} : () -> tensor<5xi64>
  (%5) = "builtin.constant" () {value:dense<tensor<4xi64>, [2,6,5,4]>} : () -> tensor<4xi64>
  (%6) = "onnx.Unsqueeze" (%1, %3) {} : (tensor<2x2x5x4xf32>, tensor<1xi64>) -> tensor<2x2x1x5x4xf32>
  (%7) = "onnx.Expand" (%6, %4) {} : (tensor<2x2x1x5x4xf32>, tensor<5xi64>) -> tensor<2x2x3x5x4xf32>
  (%8) = "onnx.Reshape" (%7, %5) {} : (tensor<2x2x3x5x4xf32>, tensor<4xi64>) -> tensor<2x6x5x4xf32>
  (%9) = "onnx.Unsqueeze" (%2, %3) {} : (tensor<2x2x5x4xf32>, tensor<1xi64>) -> tensor<2x2x1x5x4xf32>
  (%10) = "onnx.Expand" (%9, %4) {} : (tensor<2x2x1x5x4xf32>, tensor<5xi64>) -> tensor<2x2x3x5x4xf32>
  (%11) = "onnx.Reshape" (%10, %5) {} : (tensor<2x2x3x5x4xf32>, tensor<4xi64>) -> tensor<2x6x5x4xf32>
  (%12) = "fused.attention" (%0, %8, %11) {fill:0.0,scale:0.5} : (tensor<2x6x3x4xf32>, tensor<2x6x5x4xf32>, tensor<2x6x5x4xf32>) -> tensor<2x6x3x4xf32>
  () = "builtin.return" (%12) {} : (tensor<2x6x3x4xf32>) -> 
})";

class ModelPrograms : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasSolver()) GTEST_SKIP() << "no solver in this build";
    fixtures::LoadGoldenDialects(context_);
    built_ = FindRule("fuse-repeated-heads")->build(&context_);
    auto program = ir::ParseProgram(context_, kHeads, {});
    ASSERT_TRUE(program.ok()) << program.status();
    starts_ = AssignmentsOf(*built_.rule, **program);
    ASSERT_EQ(starts_.size(), 1u);
  }

  ir::IrContext context_;
  drr::BuildResult built_;
  std::vector<Assignment> starts_;
};

TEST_F(ModelPrograms, AreOnesOnWhichTheRuleMatches) {
  const auto programs = passes::ModelPrograms(*built_.rule, starts_, {.wanted = 3, .seconds = 20});
  EXPECT_EQ(programs.size(), 3u);
  for (const auto& program : programs) EXPECT_FALSE(AssignmentsOf(*built_.rule, *program).empty());
}

// With the new dimension after the rows, and sizes for which all else holds: five of them change together.
TEST_F(ModelPrograms, RefuteARuleThatLooksElsewhere) {
  const std::vector<Mutant> mutants = MutantsOf(*built_.rule);
  const auto mutant = std::find_if(mutants.begin(), mutants.end(), [](const Mutant& m) {
    return m.what == "instead of: the constant is 2 everywhere: the constant is 3 everywhere";
  });
  ASSERT_NE(mutant, mutants.end());
  auto programs = passes::ModelPrograms(
      mutant->rule, starts_,
      {.broken = &mutant->lost, .refused_by = &*built_.rule, .wanted = 2, .seconds = 20});
  ASSERT_FALSE(programs.empty());
  for (const auto& program : programs) {
    EXPECT_TRUE(AssignmentsOf(*built_.rule, *program).empty());
    EXPECT_FALSE(AssignmentsOf(mutant->rule, *program).empty());
  }
  kernels::SessionRunner runner;
  JudgeOptions options{.runner = &runner, .attempts = 0, .variants = 0};
  options.seeds = [&](const drr::Rule&) {
    std::vector<std::unique_ptr<ir::Program>> seeds;
    seeds.reserve(programs.size());
    for (const auto& program : programs) seeds.push_back(program->Clone());
    return seeds;
  };
  EXPECT_EQ(JudgeRule(mutant->rule, options).verdict, Verdict::kRefuted);
}

// That the batch stays as it is follows from the shapes of the pattern.
TEST_F(ModelPrograms, AreNoneWhereTheConstraintFollows) {
  const std::vector<Mutant> mutants = MutantsOf(*built_.rule);
  const auto mutant = std::find_if(mutants.begin(), mutants.end(), [](const Mutant& m) {
    return m.what == "without: each head stands for some that lie next to each other";
  });
  ASSERT_NE(mutant, mutants.end());
  EXPECT_TRUE(passes::ModelPrograms(
                  mutant->rule, starts_,
                  {.broken = &mutant->lost, .refused_by = &*built_.rule, .wanted = 1, .seconds = 2})
                  .empty());
}

// Slices, two axes more and a reshape back, none of which may differ: nothing is drawn on which it matches.
TEST(BigModelPrograms, JudgeARuleOfWhichNoProgramIsDrawn) {
  if (!HasSolver()) GTEST_SKIP() << "no solver in this build";
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const drr::BuildResult built = FindRule("fuse-rotary-neighbour-angles")->build(&context);
  kernels::SessionRunner runner;
  EXPECT_EQ(JudgeRule(*built.rule, {.runner = &runner, .instances = 8}).verdict, Verdict::kTested);
  const std::vector<Mutant> mutants = MutantsOf(*built.rule);
  const auto mutant = std::find_if(mutants.begin(), mutants.end(), [](const Mutant& m) {
    return m.what == "without: each pair has two columns";
  });
  ASSERT_NE(mutant, mutants.end());
  // Which programs are drawn depends on the compiler, too.
  constexpr uint64_t kMostSeeds = 6;
  bool is_refuted = false;
  for (uint64_t seed = 1; seed <= kMostSeeds && !is_refuted; ++seed)
    is_refuted =
        JudgeRule(mutant->rule, {.runner = &runner, .instances = 8, .seed = seed}).verdict ==
        Verdict::kRefuted;
  EXPECT_TRUE(is_refuted);
}

}  // namespace
}  // namespace weft::passes

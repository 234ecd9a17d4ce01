// Programs that tell a rule from its mutants.
#include "passes/verify/near_misses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text/parser.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/mutation/mutants.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

// transpose(transpose(x)) and what its rule applies to.
constexpr std::string_view kProgram = R"(module {} (%0: tensor<2x3x4xf32>) {
  (%1) = "onnx.Transpose" (%0) {perm:array[1,2,0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  (%2) = "onnx.Transpose" (%1) {perm:array[2,0,1]} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  (%3) = "onnx.Relu" (%2) {} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  () = "builtin.return" (%3) {} : (tensor<2x3x4xf32>) -> 
})";

// attention(q, k, v) of heads that are columns: three reshapes that must change together.
constexpr std::string_view kHeads =
    R"(module {} (%0: tensor<2x3x6xf32>, %1: tensor<2x5x6xf32>, %2: tensor<2x5x6xf32>) {
  (%4) = "builtin.constant" () {value:dense<tensor<4xi64>, [0,0,2,3]>} : () -> tensor<4xi64>
  (%5) = "onnx.Reshape" (%0, %4) {allowzero:0} : (tensor<2x3x6xf32>, tensor<4xi64>) -> tensor<2x3x2x3xf32>
  (%7) = "onnx.Reshape" (%1, %4) {allowzero:0} : (tensor<2x5x6xf32>, tensor<4xi64>) -> tensor<2x5x2x3xf32>
  (%9) = "onnx.Reshape" (%2, %4) {allowzero:0} : (tensor<2x5x6xf32>, tensor<4xi64>) -> tensor<2x5x2x3xf32>
  (%10) = "fused.attention" (%5, %7, %9) {fill:0.0,layout:"bshd",scale:0.4} : (tensor<2x3x2x3xf32>, tensor<2x5x2x3xf32>, tensor<2x5x2x3xf32>) -> tensor<2x3x2x3xf32>
  () = "builtin.return" (%10) {} : (tensor<2x3x2x3xf32>) -> 
})";

struct Found {
  ir::IrContext context;
  drr::BuildResult built;
  std::vector<Mutant> mutants;
  std::vector<std::vector<std::string>> programs;  // by mutant

  Found(std::string_view rule, std::string_view text) {
    fixtures::LoadGoldenDialects(context);
    built = FindRule(rule)->build(&context);
    mutants = MutantsOf(*built.rule);
    std::vector<const drr::Rule*> rules;
    for (const Mutant& mutant : mutants) rules.push_back(&mutant.rule);
    std::vector<std::unique_ptr<ir::Program>> from;
    auto program = ir::ParseProgram(context, text, {});
    EXPECT_TRUE(program.ok()) << program.status();
    from.push_back(*std::move(program));
    kernels::SessionRunner runner;
    programs =
        NearMisses(*built.rule, rules, from, {.runner = &runner, .seconds = 4, .patience = 2});
  }
};

TEST(BigNearMisses, AreFoundForAConstraintThatIsDropped) {
  const Found found("fuse-multi-head-attention", kHeads);
  ASSERT_EQ(found.programs.size(), found.mutants.size());
  size_t dropped = 0;
  for (size_t i = 0; i < found.mutants.size(); ++i) {
    if (found.mutants[i].what != "without: all have as many heads") continue;
    ++dropped;
    EXPECT_FALSE(found.programs[i].empty());
  }
  EXPECT_EQ(dropped, 1u);
}

// What has no element is the same whatever makes it.
TEST(BigNearMisses, AreLastWithoutElements) {
  const Found found("merge-transposes", kProgram);
  const auto is_empty = [](const std::string& text) {
    const size_t result = text.rfind("\"builtin.return\"");
    return text.find("tensor<0x", result) != std::string::npos ||
           text.find("x0x", result) != std::string::npos;
  };
  size_t with_elements = 0;
  for (const std::vector<std::string>& programs : found.programs) {
    EXPECT_TRUE(std::is_partitioned(programs.begin(), programs.end(),
                                    [&](const std::string& text) { return !is_empty(text); }));
    with_elements += static_cast<size_t>(
        std::count_if(programs.begin(), programs.end(),
                      [&](const std::string& text) { return !is_empty(text); }));
  }
  EXPECT_GT(with_elements, 0u);
}

// Of each the rule itself makes something else, so that its judge sees the mistake.
TEST(BigNearMisses, RefuteAMutantAtOnce) {
  Found found("merge-transposes", kProgram);
  kernels::SessionRunner runner;
  size_t told = 0;
  for (size_t i = 0; i < found.mutants.size(); ++i) {
    const Mutant& mutant = found.mutants[i];
    if (found.programs[i].empty() || mutant.kind == Mutant::kLooserEscape) continue;
    ++told;
    JudgeOptions options{
        .runner = &runner, .attempts = 0, .original = &*found.built.rule, .variants = 0};
    options.seeds = [&](const drr::Rule&) {
      std::vector<std::unique_ptr<ir::Program>> programs;
      for (const std::string& text : found.programs[i])
        programs.push_back(*ir::ParseProgram(found.context, text, {}));
      return programs;
    };
    EXPECT_EQ(JudgeRule(mutant.rule, options).verdict, Verdict::kRefuted) << mutant.what;
  }
  EXPECT_GT(told, 0u);
}

}  // namespace
}  // namespace weft::passes

#include "passes/rewrite_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/verifier.h"
#include "ir/dialects/fused.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tanh(x * 1) + 1 * x + (2 + 3), and an op that nobody reads.
constexpr const char* kProgram =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [2.0]>} : () -> tensor<f32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [3.0]>} : () -> tensor<f32>
 (%4 "m") = "onnx.Mul" (%0, %1) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
 (%5) = "onnx.Tanh" (%4) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%6) = "onnx.Mul" (%1, %0) {} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
 (%7) = "onnx.Add" (%2, %3) {} : (tensor<f32>, tensor<f32>) -> tensor<f32>
 (%8) = "onnx.Add" (%5, %6) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 (%9) = "onnx.Add" (%8, %7) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
 (%10) = "onnx.Exp" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%9) {} : (tensor<2xf32>) ->
}
)";

class RewriteTraces : public testing::Test {
 protected:
  RewriteTraces() { ir::LoadFusedDialect(context_); }

  // The program after the passes; rewrites_ has what was reported.
  std::string Run(const std::vector<std::string>& passes, RewriteTraceOptions options = {}) {
    auto program = ir::ParseProgram(context_, kProgram);
    EXPECT_TRUE(program.ok()) << program.status();
    rewrites_.clear();
    options.on_rewrite = [this](const TracedRewrite& rewrite) { rewrites_.push_back(rewrite); };
    RewriteTrace trace(std::move(options));
    auto evaluator = kernels::KernelEvaluator::Create("auto");
    PassManager pm(&context_);
    for (const std::string& pass : passes) pm.AddPass(MakePass(pass));
    pm.pass_context().evaluator = evaluator->get();
    pm.pass_context().trace = &trace;
    const absl::Status status = pm.Run(**program);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(trace.count(), rewrites_.size());
    return ir::PrintProgram(**program);
  }

  std::vector<std::string> Rules() const {
    std::vector<std::string> rules;
    for (const TracedRewrite& rewrite : rewrites_)
      rules.push_back(rewrite.pass + " " + rewrite.rule);
    return rules;
  }

  ir::IrContext context_;
  std::vector<TracedRewrite> rewrites_;
};

const std::vector<std::string> kPasses = {"constant-folding", "canonicalize",
                                          "common-subexpression-elimination",
                                          "dead-code-elimination", "fuse-elementwise"};

TEST_F(RewriteTraces, NumberWhatEveryPassDoes) {
  Run({"constant-folding", "canonicalize", "fuse-elementwise"});
  EXPECT_THAT(Rules(), ElementsAre("constant-folding fold", "canonicalize drop-unit-factor",
                                   "canonicalize drop-unit-factor", "fuse-elementwise fuse"));
  for (size_t i = 0; i < rewrites_.size(); ++i) EXPECT_EQ(rewrites_[i].number, i + 1);
}

TEST_F(RewriteTraces, NameTheOperationsThatWentAndCame) {
  Run({"constant-folding", "canonicalize", "fuse-elementwise"});
  ASSERT_EQ(rewrites_.size(), 4u);
  EXPECT_THAT(rewrites_[0].went, ElementsAre("onnx.Add", "builtin.constant", "builtin.constant"));
  EXPECT_THAT(rewrites_[0].came, ElementsAre("builtin.constant"));
  EXPECT_THAT(rewrites_[2].went, ElementsAre("onnx.Mul"));
  EXPECT_THAT(rewrites_[2].came, IsEmpty());
  EXPECT_EQ(rewrites_[2].site, "onnx.Mul %m");
  EXPECT_THAT(rewrites_[3].went, ElementsAre("onnx.Add", "onnx.Add", "onnx.Tanh"));
  EXPECT_THAT(rewrites_[3].came, ElementsAre("fused.elementwise"));
}

TEST_F(RewriteTraces, CountAPassThatReportsNothingAsOneRewrite) {
  Run({"dead-code-elimination"});
  ASSERT_EQ(rewrites_.size(), 1u);
  EXPECT_EQ(rewrites_[0].rule, "");
  EXPECT_THAT(rewrites_[0].went, ElementsAre("onnx.Exp"));
  Run({"dead-code-elimination", "dead-code-elimination"});
  EXPECT_EQ(rewrites_.size(), 1u);  // the second one changes nothing
}

TEST_F(RewriteTraces, EndTheRunAtTheLimitAndAreTheBeginningOfALongerOne) {
  const std::string all = Run(kPasses);
  const std::vector<std::string> rules = Rules();
  ASSERT_GE(rules.size(), 4u);
  std::set<std::string> programs;
  for (size_t limit = 0; limit <= rules.size(); ++limit) {
    programs.insert(Run(kPasses, {.limit = limit}));
    EXPECT_EQ(Rules(), std::vector<std::string>(
                           rules.begin(), rules.begin() + static_cast<std::ptrdiff_t>(limit)));
  }
  EXPECT_EQ(programs.size(), rules.size() + 1);  // each rewrite changed something
  EXPECT_TRUE(programs.contains(all));
  EXPECT_TRUE(programs.contains(ir::PrintProgram(**ir::ParseProgram(context_, kProgram))));
}

TEST_F(RewriteTraces, ShowTheLinesThatChangedWithTheNumbersOfTheProgramBefore) {
  Run({"canonicalize"}, {.lines = true});
  ASSERT_EQ(rewrites_.size(), 2u);
  EXPECT_THAT(
      rewrites_[1].lines,
      ElementsAre(
          "-(%4 \"m\") = \"onnx.Mul\" (%0, %1) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
          "-(%5) = \"onnx.Tanh\" (%4) {} : (tensor<2xf32>) -> tensor<2xf32>",
          "+(%5) = \"onnx.Tanh\" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>"));
  Run({"constant-folding"}, {.lines = true});
  ASSERT_EQ(rewrites_.size(), 1u);
  ASSERT_EQ(rewrites_[0].lines.size(), 6u) << testing::PrintToString(rewrites_[0].lines);
  EXPECT_THAT(rewrites_[0].lines[2], HasSubstr("-(%7) = \"onnx.Add\" (%2, %3)"));
  EXPECT_THAT(rewrites_[0].lines[3],
              HasSubstr("+(%11) = \"builtin.constant\" () {value:dense<tensor<f32>, [5.0]>}"));
  EXPECT_THAT(rewrites_[0].lines[5], HasSubstr("+(%9) = \"onnx.Add\" (%8, %11)"));
}

TEST_F(RewriteTraces, ShowTheLinesOfAWholePass) {
  Run({"dead-code-elimination"}, {.lines = true});
  ASSERT_EQ(rewrites_.size(), 1u);
  EXPECT_THAT(rewrites_[0].lines,
              ElementsAre("-(%10) = \"onnx.Exp\" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>"));
}

TEST_F(RewriteTraces, AreAnnouncedBeforeTheyAreMade) {
  std::vector<std::string> before;
  const auto note = [&](const TracedRewrite& rewrite, ir::Program& program) {
    EXPECT_TRUE(ir::Verify(program).ok());
    if (rewrite.root) before.push_back(rewrite.rule + " " + std::string(rewrite.root.name()));
  };
  Run({"canonicalize"}, {.before_rewrite = note});
  EXPECT_THAT(before, ElementsAre("drop-unit-factor onnx.Mul", "drop-unit-factor onnx.Mul"));
}

TEST_F(RewriteTraces, ChangeNoResult) {
  auto plain = ir::ParseProgram(context_, kProgram);
  auto evaluator = kernels::KernelEvaluator::Create("auto");
  PassManager pm(&context_);
  for (const std::string& pass : FindPipeline("fuse")->passes) pm.AddPass(MakePass(pass));
  pm.pass_context().evaluator = evaluator->get();
  ASSERT_TRUE(pm.Run(**plain).ok());
  EXPECT_EQ(Run(FindPipeline("fuse")->passes), ir::PrintProgram(**plain));
}

}  // namespace
}  // namespace weft::passes

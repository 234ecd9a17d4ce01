// Each pass by itself, and each pipeline, on a program of what is seldom: operands that are left out, ops that nobody
// knows, results that nobody reads, graphs in graphs.
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

constexpr const char* kSeldom =
    R"(module {input_names:strings["x","go"],output_names:strings["a","b","c","x"]} (%0: tensor<2xf32>, %1: tensor<bool>) {
 (%2) = "builtin.constant" () {value:dense<tensor<i64>, [2]>} : () -> tensor<i64>
 (%3, %4) = "onnx.Loop" (<<NULL VALUE>>, %1, %0) {} : (<<NULL TYPE>>, tensor<bool>, tensor<2xf32>) -> tensor<2xf32>, tensor<?x2xf32> ({
  ^(%5: tensor<i64>, %6: tensor<bool>, %7: tensor<2xf32>):
  (%8) = "my.Op" (<<NULL VALUE>>, %7) {} : (<<NULL TYPE>>, tensor<2xf32>) -> tensor<2xf32>
  (%9) = "onnx.Less" (%5, %2) {} : (tensor<i64>, tensor<i64>) -> tensor<bool>
  () = "builtin.return" (%9, %8, %0) {} : (tensor<bool>, tensor<2xf32>, tensor<2xf32>) ->
 })
 (%10) = "my.Op" (<<NULL VALUE>>, <<NULL VALUE>>) {} : (<<NULL TYPE>>, <<NULL TYPE>>) -> tensor<*x?>
 (%11) = "my.Source" () {} : () -> tensor<f32>
 () = "my.Sink" (%11) {} : (tensor<f32>) ->
 (%12) = "onnx.Clip" (%3, <<NULL VALUE>>, %11) {} : (tensor<2xf32>, <<NULL TYPE>>, tensor<f32>) -> tensor<2xf32>
 (%13) = "onnx.Clip" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%14) = "onnx.If" (%1) {} : (tensor<bool>) -> tensor<2xf32> ({
  () = "builtin.return" (%13) {} : (tensor<2xf32>) ->
 }, {
  (%15) = "my.Op" (<<NULL VALUE>>, %0) {} : (<<NULL TYPE>>, tensor<2xf32>) -> tensor<2xf32>
  () = "builtin.return" (%15) {} : (tensor<2xf32>) ->
 })
 () = "builtin.return" (%14, %10, %4, %0) {} : (tensor<2xf32>, tensor<*x?>, tensor<?x2xf32>, tensor<2xf32>) ->
}
)";

// Runs the passes on it; what is refused is left as it was.
void RunOnSeldom(const std::vector<std::string>& passes) {
  const auto evaluator = kernels::KernelEvaluator::Create("reference");
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  const auto program = ir::ParseProgram(context, kSeldom);
  ASSERT_TRUE(program.ok()) << program.status();
  PassManager manager(&context);
  manager.pass_context().evaluator = evaluator->get();
  for (const std::string& pass : passes) manager.AddPass(MakePass(pass));
  const absl::Status status = manager.Run(**program);
  EXPECT_EQ(ir::Verify(**program).message(), "");
  const std::string text = ir::PrintProgram(**program);
  const auto again = ir::ParseProgram(context, text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ir::PrintProgram(**again), text);
}

TEST(EveryPass, TakesWhatIsSeldom) {
  for (const RegisteredPass& pass : RegisteredPasses()) {
    SCOPED_TRACE(pass.name);
    RunOnSeldom({pass.name});
  }
}

TEST(EveryPipeline, TakesWhatIsSeldom) {
  for (const Pipeline& pipeline : Pipelines()) {
    SCOPED_TRACE(pipeline.name);
    RunOnSeldom(pipeline.passes);
  }
}

}  // namespace
}  // namespace weft::passes

// Rules that want two shapes to be one: equal symbols prove it, two unknown sizes do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/verifier.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/greedy_driver.h"
#include "passes/rule_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/passes/shared_rule.h"  // which rules_test.cc includes too

namespace weft::passes {
namespace {

// The program, where S stands for a size, after one rule: "" when that does not apply.
std::string After(std::string_view rule, std::string text, const std::string& size) {
  for (size_t at = text.find("Sx"); at != std::string::npos; at = text.find("Sx", at + size.size()))
    text.replace(at, 1, size);
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto program = ir::ParseProgram(context, text);
  EXPECT_TRUE(program.ok()) << ir::Message(program.status());
  if (!program.ok() || !ir::Verify(**program).ok()) return "no program";
  drr::RewritePatternSet set(&context);
  set.Add(FindRule(rule)->build(&context));
  const auto result = ApplyPatternsGreedily(**program, drr::FrozenRewritePatternSet(std::move(set)),
                                            {.paranoid = true});
  EXPECT_TRUE(result.ok()) << ir::Message(result.status());
  return result.ok() && result->rules[0].applied > 0 ? ir::PrintProgram(**program) : "";
}

struct Case {
  const char* rule;
  const char* program;
  const char* result;
};

const Case kCases[] = {
    {"drop-noop-reshape",
     R"(module {input_names:strings["x","s"],output_names:strings["y"]} (%0: tensor<Sx8xf32>, %1: tensor<2xi64>) {
 (%2) = "onnx.Reshape" (%0, %1) {} : (tensor<Sx8xf32>, tensor<2xi64>) -> tensor<Sx8xf32>
 (%3) = "onnx.Tanh" (%2) {} : (tensor<Sx8xf32>) -> tensor<Sx8xf32>
 () = "builtin.return" (%3) {} : (tensor<Sx8xf32>) ->
}
)",
     "\"onnx.Tanh\" (%0)"},
    {"fuse-layer-norm-residual",
     R"(module {input_names:strings["x","r","g"],output_names:strings["y"]} (%0: tensor<Sx8xf32>, %1: tensor<Sx8xf32>, %2: tensor<8xf32>) {
 (%3) = "onnx.Add" (%0, %1) {} : (tensor<Sx8xf32>, tensor<Sx8xf32>) -> tensor<Sx8xf32>
 (%4) = "fused.layer_norm" (%3, %2) {axis:-1,epsilon:1e-05} : (tensor<Sx8xf32>, tensor<8xf32>) -> tensor<Sx8xf32>
 () = "builtin.return" (%4) {} : (tensor<Sx8xf32>) ->
}
)",
     "\"fused.layer_norm\" (%0, %2, <<NULL VALUE>>, %1)"},
    {"fuse-linear-residual",
     R"(module {input_names:strings["x","r","w"],output_names:strings["y"]} (%0: tensor<Sx4xf32>, %1: tensor<Sx8xf32>, %2: tensor<4x8xf32>) {
 (%3) = "fused.linear" (%0, %2) {} : (tensor<Sx4xf32>, tensor<4x8xf32>) -> tensor<Sx8xf32>
 (%4) = "onnx.Add" (%3, %1) {} : (tensor<Sx8xf32>, tensor<Sx8xf32>) -> tensor<Sx8xf32>
 () = "builtin.return" (%4) {} : (tensor<Sx8xf32>) ->
}
)",
     "\"fused.linear\" (%0, %2, <<NULL VALUE>>, %1)"},
    {"fuse-attention",
     R"(module {input_names:strings["q","k","v","m"],output_names:strings["y"]} (%0: tensor<2x3xSx4xf32>, %1: tensor<2x3x4x5xf32>, %2: tensor<2x3x5x4xf32>, %3: tensor<1x1xSx5xf32>) {
 (%4) = "onnx.MatMul" (%0, %1) {} : (tensor<2x3xSx4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3xSx5xf32>
 (%5) = "onnx.Add" (%4, %3) {} : (tensor<2x3xSx5xf32>, tensor<1x1xSx5xf32>) -> tensor<2x3xSx5xf32>
 (%6) = "onnx.Softmax" (%5) {axis:-1} : (tensor<2x3xSx5xf32>) -> tensor<2x3xSx5xf32>
 (%7) = "onnx.MatMul" (%6, %2) {} : (tensor<2x3xSx5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3xSx4xf32>
 () = "builtin.return" (%7) {} : (tensor<2x3xSx4xf32>) ->
}
)",
     "\"fused.attention\""},
};

TEST(SymbolicShapes, EqualSymbolsAreOneShapeAndUnknownSizesAreNot) {
  for (const Case& c : kCases) {
    EXPECT_THAT(After(c.rule, c.program, "6"), testing::HasSubstr(c.result)) << c.rule;
    EXPECT_THAT(After(c.rule, c.program, "\"N\""), testing::HasSubstr(c.result)) << c.rule;
    EXPECT_EQ(After(c.rule, c.program, "?"), "") << c.rule;
  }
}

// Its constants of one element leave x its shape, whatever that is.
TEST(SymbolicShapes, AGeluOfAnUnknownSizeIsStillOne) {
  const auto program = [](const std::string& half) {
    return R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<Sx8xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.4142135]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%3) = "builtin.constant" () {value:dense<tensor<)" +
           half + R"(xf32>, [0.5]>} : () -> tensor<)" + half + R"(xf32>
 (%4) = "onnx.Div" (%0, %1) {} : (tensor<Sx8xf32>, tensor<f32>) -> tensor<Sx8xf32>
 (%5) = "onnx.Erf" (%4) {} : (tensor<Sx8xf32>) -> tensor<Sx8xf32>
 (%6) = "onnx.Add" (%5, %2) {} : (tensor<Sx8xf32>, tensor<f32>) -> tensor<Sx8xf32>
 (%7) = "onnx.Mul" (%0, %6) {} : (tensor<Sx8xf32>, tensor<Sx8xf32>) -> tensor<Sx8xf32>
 (%8) = "onnx.Mul" (%7, %3) {} : (tensor<Sx8xf32>, tensor<)" +
           half + R"(xf32>) -> tensor<*xf32>
 () = "builtin.return" (%8) {} : (tensor<*xf32>) ->
}
)";
  };
  for (const std::string size : {"6", "\"N\"", "?"}) {
    EXPECT_THAT(After("fuse-erf-gelu", program("1"), size), testing::HasSubstr("fused.gelu"));
    EXPECT_EQ(After("fuse-erf-gelu", program("1x1x1"), size), "") << size;
  }
}

}  // namespace
}  // namespace weft::passes

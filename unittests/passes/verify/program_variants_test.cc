// Programs that differ a little from one that is given.
#include "passes/verify/program_variants.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/analysis/verifier.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

constexpr std::string_view kProgram = R"(module {} (%0: tensor<2x3xf32>) {
  (%1) = "builtin.constant" () {value:dense<tensor<f32>, [3]>} : () -> tensor<f32>
  (%2) = "onnx.Mul" (%0, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  (%3) = "onnx.Transpose" (%2) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  () = "builtin.return" (%3) {} : (tensor<3x2xf32>) -> 
})";

TEST(ProgramVariants, HaveOtherAttributesSizesAndConstants) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  auto program = ir::ParseProgram(context, kProgram, {});
  ASSERT_TRUE(program.ok()) << program.status();
  const drr::PatternGraph graph("a rule", &context);
  Draw draw(graph, 1);
  std::set<std::string> texts;
  for (int i = 0; i < 100; ++i) {
    const auto variant = VariantOf(**program, draw);
    if (variant == nullptr) continue;
    EXPECT_TRUE(ir::Verify(*variant).ok());
    texts.insert(ir::PrintProgram(*variant, {.full_weights = true}));
  }
  const auto has = [&](const std::string& part) {
    for (const std::string& text : texts)
      if (text.find(part) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(has("perm:array[0,1]"));
  EXPECT_TRUE(has("%0: tensor<2x2xf32>") || has("%0: tensor<3x3xf32>"));
  EXPECT_TRUE(has("dense<tensor<f32>, [0.5]>"));
}

}  // namespace
}  // namespace weft::passes

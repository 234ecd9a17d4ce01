// What models for opsets before 15 get; the programs of golden/rebuild-sizes/ have the rest.
#include "passes/canonicalize/shapes/rebuild_sizes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "ir/walk.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

std::vector<std::string> OpsAfter(const std::string& imports, int64_t target_opset = 0) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const auto program = ir::ParseProgram(
      context, R"(module {input_names:strings["x"],output_names:strings["y"])" + imports +
                   R"(} (%0: tensor<"N"x3x"L"xf32>) {
 (%1) = "onnx.Shape" (%0) {start:0} : (tensor<"N"x3x"L"xf32>) -> tensor<3xi64>
 (%2) = "builtin.constant" () {value:dense<tensor<1xi64>, [2]>} : () -> tensor<1xi64>
 (%3) = "onnx.Gather" (%1, %2) {axis:0} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
 (%4) = "onnx.Abs" (%3) {} : (tensor<1xi64>) -> tensor<1xi64>
 () = "builtin.return" (%4) {} : (tensor<1xi64>) ->
})");
  EXPECT_TRUE(program.ok()) << program.status();
  PassManager pm(&context);
  pm.AddPass(MakePass("rebuild-sizes"));
  pm.AddPass(MakePass("dead-code-elimination"));
  if (target_opset != 0)
    pm.pass_context().options.Set(RebuildSizesOptions{.target_opset = target_opset});
  EXPECT_TRUE(pm.Run(**program).ok());
  std::vector<std::string> names;
  ir::Walk(**program, [&](ir::Operation op) {
    if (!op.HasTrait(ir::kConstantLike)) names.emplace_back(op.name());
  });
  return names;
}

TEST(RebuildSizes, TakesPartsOfShapesByASliceWhereShapesGiveAllSizes) {
  const std::vector<std::string> parts = {"onnx.Shape", "builtin.return"},
                                 slices = {"onnx.Shape", "onnx.Slice", "builtin.return"};
  const std::string old = R"(,onnx.opset_imports:strings["com.microsoft:1",":14"])";
  EXPECT_EQ(OpsAfter(""), parts);
  EXPECT_EQ(OpsAfter(R"(,onnx.opset_imports:strings[":15"])"), parts);
  EXPECT_EQ(OpsAfter(old), slices);
  EXPECT_EQ(OpsAfter(old, 15), parts);
  EXPECT_EQ(OpsAfter("", 14), slices);
}

}  // namespace
}  // namespace weft::passes

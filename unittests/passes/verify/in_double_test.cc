// What of a program in double precision has no meaning.
#include "passes/verify/in_double.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"

namespace weft::passes {
namespace {

// Of x and this number, as operands of this op.
bool MakesIntegersWith(std::string_view scale, std::string_view op) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const bool quantizes = op == "onnx.QuantizeLinear";
  const auto program =
      ir::ParseProgram(context,
                       fmt::format(R"(module {{}} (%0: tensor<4xf32>) {{
 (%1) = "builtin.constant" () {{value:dense<tensor<f32>, [{}]>}} : () -> tensor<f32>
 (%2) = "{}" (%0, %1) {{}} : (tensor<4xf32>, tensor<f32>) -> tensor<4x{}>
 () = "builtin.return" (%2) {{}} : (tensor<4x{}>) -> 
}})",
                                   scale, op, quantizes ? "u8" : "f32", quantizes ? "u8" : "f32"),
                       {});
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() && MakesIntegersOfNoNumber(**program);
}

TEST(IntegersOfNoNumber, AreMadeByScalesThatAreNone) {
  EXPECT_TRUE(MakesIntegersWith("-inf", "onnx.QuantizeLinear"));
  EXPECT_TRUE(MakesIntegersWith("nan", "onnx.QuantizeLinear"));
  EXPECT_FALSE(MakesIntegersWith("0.5", "onnx.QuantizeLinear"));
  EXPECT_FALSE(MakesIntegersWith("-inf", "onnx.Mul"));
}

}  // namespace
}  // namespace weft::passes

#include "ir/analysis/flops.h"

#include <gtest/gtest.h>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"

namespace weft::ir {
namespace {

class FlopsTest : public testing::Test {
 protected:
  FlopsTest() { LoadFusedDialect(context_); }
  Flops Of(const std::string& arguments, const std::string& ops) {
    auto program = ParseProgram(context_, "module {} (" + arguments + ") {\n" + ops + "}\n");
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? CountFlops(**program) : Flops();
  }

  IrContext context_;
};

TEST_F(FlopsTest, CountsAMultiplicationAndAnAdditionOfAProductAsTwo) {
  EXPECT_EQ(
      Of("%0: tensor<5x2x3xf32>, %1: tensor<3x7xf32>",
         R"( (%2) = "onnx.MatMul" (%0, %1) {} : (tensor<5x2x3xf32>, tensor<3x7xf32>) -> tensor<5x2x7xf32>
)")
          .count,
      2.0 * 5 * 2 * 3 * 7);
}

TEST_F(FlopsTest, CountsOfAConvolutionWhatEachElementReadsOfTheWeights) {
  EXPECT_EQ(
      Of("%0: tensor<1x4x8x8xf32>, %1: tensor<6x2x3x3xf32>",
         R"( (%2) = "onnx.Conv" (%0, %1) {group:2,pads:array[1,1,1,1]} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
)")
          .count,
      2.0 * 6 * 8 * 8 * 2 * 3 * 3);
}

TEST_F(FlopsTest, CountsOneForEachElementOfElementwiseOpsAndNothingForWhatMoves) {
  EXPECT_EQ(
      Of("%0: tensor<2x3xf32>, %1: tensor<5x1x3xf32>",
         R"( (%2) = "onnx.Add" (%0, %1) {} : (tensor<2x3xf32>, tensor<5x1x3xf32>) -> tensor<5x2x3xf32>
 (%3) = "onnx.Transpose" (%2) {perm:array[0,2,1]} : (tensor<5x2x3xf32>) -> tensor<5x3x2xf32>
 (%4) = "onnx.Identity" (%3) {} : (tensor<5x3x2xf32>) -> tensor<5x3x2xf32>
)")
          .count,
      30.0);
}

TEST_F(FlopsTest, CountsBothProductsOfARecurrentLayerInEveryStep) {
  EXPECT_EQ(
      Of("%0: tensor<5x2x3xf32>, %1: tensor<1x16x3xf32>, %2: tensor<1x16x4xf32>",
         R"( (%3, %4, %5) = "onnx.LSTM" (%0, %1, %2) {hidden_size:4} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
)")
          .count,
      2.0 * 5 * 2 * 16 * (3 + 4));
}

// erf-gelu: a quotient, an erf, a sum and two products.
TEST_F(FlopsTest, CountsOfAFusedOpWhatItReplaces) {
  const std::string unfused =
      R"( (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.4142135]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [0.5]>} : () -> tensor<f32>
 (%4) = "onnx.Div" (%0, %1) {} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
 (%5) = "onnx.Erf" (%4) {} : (tensor<8xf32>) -> tensor<8xf32>
 (%6) = "onnx.Add" (%5, %2) {} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
 (%7) = "onnx.Mul" (%0, %6) {} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
 (%8) = "onnx.Mul" (%7, %3) {} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
)";
  const std::string fused = " (%1) = \"fused.gelu\" (%0) {} : (tensor<8xf32>) -> tensor<8xf32>\n";
  const Flops before = Of("%0: tensor<8xf32>", unfused), after = Of("%0: tensor<8xf32>", fused);
  EXPECT_EQ(before.count, 5.0 * 8);
  EXPECT_EQ(after.num_unknown, 0u);
  EXPECT_EQ(after.count, before.count);
}

TEST_F(FlopsTest, CountsTheLargerBranch) {
  EXPECT_EQ(Of("%0: tensor<bool>, %1: tensor<4xf32>",
               R"( (%2) = "onnx.If" (%0) {} : (tensor<bool>) -> tensor<4xf32> ({
  (%3) = "onnx.Sin" (%1) {} : (tensor<4xf32>) -> tensor<4xf32>
  (%4) = "onnx.Sin" (%3) {} : (tensor<4xf32>) -> tensor<4xf32>
  () = "builtin.return" (%4) {} : (tensor<4xf32>) ->
 }, {
  () = "builtin.return" (%1) {} : (tensor<4xf32>) ->
 })
)")
                .count,
            8.0);
}

TEST_F(FlopsTest, CountsOpsOfUnknownSizesApart) {
  const Flops flops = Of("%0: tensor<\"N\"x3xf32>, %1: tensor<4xf32>",
                         R"( (%2) = "onnx.Relu" (%0) {} : (tensor<"N"x3xf32>) -> tensor<"N"x3xf32>
 (%3) = "onnx.Relu" (%1) {} : (tensor<4xf32>) -> tensor<4xf32>
 (%4) = "my.op" (%1) {} : (tensor<4xf32>) -> tensor<4xf32>
)");
  EXPECT_EQ(flops.count, 4.0);
  EXPECT_EQ(flops.num_unknown, 2u);
}

}  // namespace
}  // namespace weft::ir

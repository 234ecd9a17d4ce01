#include "weft/optimize/arena_estimate.h"

#include <gtest/gtest.h>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "kernels/runtime/session.h"

namespace weft {
namespace {

// Exp and Tanh lie over each other, but not over the product, whose operands they stay until it is made.
constexpr const char* kProduct =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<16x16xf32>) {
 (%1) = "onnx.Exp" (%0) {} : (tensor<16x16xf32>) -> tensor<16x16xf32>
 (%2) = "onnx.Tanh" (%1) {} : (tensor<16x16xf32>) -> tensor<16x16xf32>
 (%3) = "onnx.Reshape" (%2, %9) {} : (tensor<16x16xf32>, tensor<2xi64>) -> tensor<16x16xf32>
 (%4) = "onnx.MatMul" (%2, %3) {} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
 (%5) = "onnx.Softmax" (%4) {axis:1} : (tensor<16x16xf32>) -> tensor<16x16xf32>
 () = "builtin.return" (%5) {} : (tensor<16x16xf32>) ->
}
)";

class EstimateArenaTest : public testing::Test {
 protected:
  EstimateArenaTest() { ir::LoadOnnxDialect(context_); }
  std::unique_ptr<ir::Program> Parse(std::string text) {
    const std::string first = " (%1) = ";
    text.insert(text.find(first),
                " (%9) = \"builtin.constant\" () {value:dense<tensor<2xi64>, [16,16]>} : () -> "
                "tensor<2xi64>\n");
    auto program = ir::ParseProgram(context_, text);
    EXPECT_TRUE(program.ok()) << program.status();
    return *std::move(program);
  }
  ir::IrContext context_;
};

TEST_F(EstimateArenaTest, SharesTheMemoryOfViewsAndOfResultsOverOperands) {
  EXPECT_EQ(EstimateArena(*Parse(kProduct)), 2 * 1024u);
}

TEST_F(EstimateArenaTest, IsWhatAPlanTakesWhoseKernelsNeedNothingBeside) {
  const auto program = Parse(kProduct);
  const auto session = kernels::Session::Create(*program, {.provider = "reference"});
  ASSERT_TRUE(session.ok()) << session.status();
  const std::vector<int64_t> dims = {16, 16};
  const std::span<const int64_t> shapes[] = {dims};
  const auto plan = (*session)->PlanFor(shapes);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(EstimateArena(*program), (*plan)->arena_bytes());
}

TEST_F(EstimateArenaTest, IsUnknownWhereASizeIs) {
  std::string text = kProduct;
  for (size_t at; (at = text.find("16x16xf32")) != std::string::npos;)
    text.replace(at, 9, "\"N\"x16xf32");
  EXPECT_EQ(EstimateArena(*Parse(text)), std::nullopt);
}

}  // namespace
}  // namespace weft

// The layer norm of the Neural Engine's documentation, read and applied.
#include "unittests/drr/neural_engine/layer_norm_dict.h"

#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

using testing::HasSubstr;

struct Parts {
  std::string axes = "array[-1]", exponent = "2.0", epsilon = "0.0001";
  std::string sub = "(%0, %3)", sub_types = "(tensor<2x4x8xf32>, tensor<2x4x1xf32>)";
  std::string mul = "(%12, %1)", mul_types = "(tensor<2x4x8xf32>, tensor<8xf32>)";
  std::string beta = "8";
  std::string variance = "2x4x1";
  std::string result = "%14";
};

std::string LayerNorm(const Parts& p) {
  return R"(module {input_names:strings["x","g","b"],output_names:strings["y"]} (%0: tensor<2x4x8xf32>, %1: tensor<8xf32>, %2: tensor<)" +
         p.beta + R"(xf32>) {
 (%3) = "onnx.ReduceMean" (%0) {axes:array[2],keepdims:1} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
 (%4) = "onnx.Sub" )" +
         p.sub + R"( {} : )" + p.sub_types + R"( -> tensor<2x4x8xf32>
 (%5) = "builtin.constant" () {value:dense<tensor<f32>, [)" +
         p.exponent + R"(]>} : () -> tensor<f32>
 (%6) = "onnx.Pow" (%4, %5) {} : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
 (%7) = "onnx.ReduceMean" (%6) {axes:)" +
         p.axes + R"(,keepdims:1} : (tensor<2x4x8xf32>) -> tensor<)" + p.variance + R"(xf32>
 (%8) = "builtin.constant" () {value:dense<tensor<f32>, [)" +
         p.epsilon + R"(]>} : () -> tensor<f32>
 (%9) = "onnx.Add" (%7, %8) {} : (tensor<)" +
         p.variance + R"(xf32>, tensor<f32>) -> tensor<)" + p.variance + R"(xf32>
 (%10) = "onnx.Sqrt" (%9) {} : (tensor<)" +
         p.variance + R"(xf32>) -> tensor<)" + p.variance + R"(xf32>
 (%12) = "onnx.Div" (%4, %10) {} : (tensor<2x4x8xf32>, tensor<)" +
         p.variance + R"(xf32>) -> tensor<2x4x8xf32>
 (%13) = "onnx.Mul" )" +
         p.mul + " {} : " + p.mul_types + R"( -> tensor<2x4x8xf32>
 (%14) = "onnx.Add" (%13, %2) {} : (tensor<2x4x8xf32>, tensor<)" +
         p.beta + R"(xf32>) -> tensor<2x4x8xf32> loc("norm/add_1")
 () = "builtin.return" ()" +
         p.result + R"() {} : (tensor<2x4x8xf32>) ->
}
)";
}

class LayerNormDict : public TextRuleTest {
 protected:
  std::string Refusal(const Parts& parts) {
    Parse(LayerNorm(parts));
    EXPECT_EQ(ApplyText(kLayerNormDict), 0u);
    return reason;
  }
};

TEST_F(LayerNormDict, BecomesALayerNormWithTheConstantsOfTheMatch) {
  Parse(LayerNorm({}));
  EXPECT_EQ(ApplyText(kLayerNormDict), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"fused.layer_norm\" (%0, %1, %2) {axis:-1,epsilon:1e-04}"));
  EXPECT_THAT(Print(), HasSubstr("loc(\"norm/add_1\")"));
  EXPECT_EQ(Count("onnx.Sub") + Count("onnx.ReduceMean"), 0u);
}

TEST_F(LayerNormDict, IsFoundWithItsFactorsInAnotherOrder) {
  Parse(LayerNorm({.mul = "(%1, %12)", .mul_types = "(tensor<8xf32>, tensor<2x4x8xf32>)"}));
  EXPECT_EQ(ApplyText(kLayerNormDict), 1u) << reason;
}

TEST_F(LayerNormDict, IsRefusedWhereTheExponentIsNotTwo) {
  EXPECT_THAT(Refusal({.exponent = "3.0"}), HasSubstr("the match computes"));
}

TEST_F(LayerNormDict, IsRefusedWhereTheMeansAreOverOtherAxes) {
  EXPECT_THAT(Refusal({.axes = "array[1]", .variance = "2x1x8"}), HasSubstr("the match computes"));
}

TEST_F(LayerNormDict, IsRefusedWhereTheDifferenceHasTheOtherSign) {
  EXPECT_THAT(Refusal({.sub = "(%3, %0)", .sub_types = "(tensor<2x4x1xf32>, tensor<2x4x8xf32>)"}),
              HasSubstr("the match computes"));
}

TEST_F(LayerNormDict, IsRefusedWhereBetaIsNoVectorOfTheLastDimension) {
  EXPECT_THAT(Refusal({.beta = "1"}), HasSubstr("bias"));
}

}  // namespace
}  // namespace weft::drr::text

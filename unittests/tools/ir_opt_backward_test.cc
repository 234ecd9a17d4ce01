// What append-backward refuses: one line that names the operation, and the exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead = R"( (%0) = "pd.feed" () {name:"x"} : () -> tensor<2x3xf32>
 (%1) = "builtin.get_parameter" () {parameter_name:"w"} : () -> tensor<2x3xf32>
)";
constexpr const char* kTail = R"( (%90) = "pd.mean" (%9) {} : (tensor<2x3xf32>) -> tensor<f32>
 () = "pd.fetch" (%90) {name:"loss"} : (tensor<f32>) ->
}
)";

class IrOptBackward : public IrOpt {
 protected:
  std::string RefusalOf(const std::string& program, int code) {
    return Refusal({Write("a.ir", program), "--passes", "append-backward"}, code);
  }
  // The same for ops between parameter %1 and the mean of %9.
  std::string RefusalOfOps(const std::string& ops, int code) {
    return RefusalOf(std::string("{\n") + kHead + ops + kTail, code);
  }
};

TEST_F(IrOptBackward, RefusesOperationsWithoutAGradient) {
  EXPECT_THAT(
      RefusalOfOps(R"( (%2) = "pd.feed" () {name:"u"} : () -> tensor<3x3xf32>
 (%9) = "pd.fused_linear" (%1, %2) {} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
)",
                   3),
      HasSubstr("append-backward: pd.fused_linear has no gradient, and the loss depends on it"));
  EXPECT_THAT(RefusalOfOps(R"( (%9) = "pd.unheard_of" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
)",
                           3),
              HasSubstr("pd.unheard_of has no gradient"));
}

TEST_F(IrOptBackward, RefusesAParameterThatOnlyABranchReads) {
  EXPECT_THAT(RefusalOfOps(R"( (%2) = "pd.feed" () {name:"c"} : () -> tensor<bool>
 (%9) = "onnx.If" (%2) {} : (tensor<bool>) -> tensor<2x3xf32> ({
  () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
 }, {
  () = "builtin.return" (%0) {} : (tensor<2x3xf32>) ->
 })
)",
                           3),
              HasSubstr("onnx.If has no gradient"));
}

TEST_F(IrOptBackward, RefusesOperandsAndResultsWithoutAGradient) {
  EXPECT_THAT(RefusalOfOps(R"( (%2) = "pd.mean" (%1) {} : (tensor<2x3xf32>) -> tensor<f32>
 (%9) = "pd.scale" (%0, %2) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
)",
                           3),
              HasSubstr("pd.scale has no gradient for its operand scale"));
  EXPECT_THAT(RefusalOfOps(R"( (%2) = "pd.feed" () {name:"label"} : () -> tensor<2x1xi64>
 (%9, %3) = "pd.cross_entropy_with_softmax" (%1, %2) {} : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>, tensor<2x1xf32>
)",
                           3),
              HasSubstr("pd.cross_entropy_with_softmax has no gradient of its result softmax"));
}

// Running statistics are constants only where they are parameters.
TEST_F(IrOptBackward, RefusesComputedRunningStatistics) {
  EXPECT_THAT(RefusalOfOps(
                  R"( (%2) = "builtin.get_parameter" () {parameter_name:"m"} : () -> tensor<3xf32>
 (%3) = "pd.relu" (%2) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%9, %4, %5, %6, %7, %8) = "pd.batch_norm" (%1, %3, %2, %2, %2) {is_test:1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<*xf32>
)",
                  3),
              HasSubstr("pd.batch_norm has no gradient for its operand mean"));
}

// What is written for such a parameter would be the other part of its gradient alone.
TEST_F(IrOptBackward, RefusesRunningStatisticsThatAreReadElsewhereToo) {
  const auto refusal = [&](const std::string& again) {
    return RefusalOfOps(
        R"( (%2) = "builtin.get_parameter" () {parameter_name:"m"} : () -> tensor<3xf32>
 (%3) = "pd.feed" () {name:"others"} : () -> tensor<3xf32>
)" + again +
            R"( (%10, %4, %5, %6, %7, %8) = "pd.batch_norm" (%1, %2, %3, %3, %3) {use_global_stats:1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<*xf32>
 (%9) = "pd.add" (%10, %11) {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
)",
        3);
  };
  const char* why =
      "pd.batch_norm takes the parameter 'm' for a constant, and the loss depends on it by another "
      "way too";
  EXPECT_THAT(refusal(" (%11) = \"pd.relu\" (%2) {} : (tensor<3xf32>) -> tensor<3xf32>\n"),
              HasSubstr(why));
  EXPECT_THAT(refusal(" (%11) = \"builtin.get_parameter\" () {parameter_name:\"m\"} : () -> "
                      "tensor<3xf32>\n"),
              HasSubstr(why));
}

TEST_F(IrOptBackward, RefusesAParameterAndAnInputOfOneName) {
  EXPECT_THAT(
      RefusalOfOps(
          R"( (%2) = "pd.feed" () {name:"w",stop_gradient:false} : () -> tensor<2x3xf32>
 (%9) = "pd.multiply" (%1, %2) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
)",
          2),
      HasSubstr("a parameter and an input are both named 'w', and their gradients would be too"));
}

TEST_F(IrOptBackward, RefusesALossThatIsNotOneFloat) {
  const std::string head = std::string("{\n") + kHead;
  EXPECT_THAT(
      RefusalOf(head + " () = \"pd.fetch\" (%1) {name:\"y\"} : (tensor<2x3xf32>) ->\n}\n", 2),
      HasSubstr("append-backward: the loss 'y' is tensor<2x3xf32>, not one float"));
  EXPECT_THAT(RefusalOf(R"({
 (%0) = "builtin.get_parameter" () {parameter_name:"w"} : () -> tensor<i64>
 () = "pd.fetch" (%0) {name:"y"} : (tensor<i64>) ->
}
)",
                        2),
              HasSubstr("the loss 'y' is tensor<i64>, not one float"));
  EXPECT_THAT(RefusalOf(head + "}\n", 2), HasSubstr("no output that may be a loss"));
}

TEST_F(IrOptBackward, RefusesALossThatIsNotThereOrThatNothingIsAskedOf) {
  const std::string program =
      std::string(kHead) + R"( (%9) = "pd.relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
)" + kTail;
  EXPECT_THAT(RefusalOf("module {loss:\"los\"} {\n" + program, 2),
              HasSubstr("no output is named 'los', the loss"));
  EXPECT_THAT(RefusalOf("module {loss:3} {\n" + program, 2),
              HasSubstr("the module's attribute loss must be the name of an output"));
  EXPECT_THAT(RefusalOf("{\n" + program, 2),
              HasSubstr("the loss 'loss' depends on no parameter that has a gradient"));
}

TEST_F(IrOptBackward, RefusesAStopGradientThatIsNeitherTrueNorFalse) {
  for (const char* stop : {"\"yes\"", "array[0,1]", "0.5"})
    EXPECT_THAT(RefusalOfOps(std::string(" (%9) = \"pd.relu\" (%1) {stop_gradient:") + stop +
                                 "} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n",
                             2),
                HasSubstr("pd.relu: stop_gradient must be true, false or an array with a number "
                          "for each of 1 results"));
}

TEST_F(IrOptBackward, RefusesTypesThatContradictEachOther) {
  EXPECT_THAT(
      RefusalOfOps(R"( (%2) = "builtin.get_parameter" () {parameter_name:"v"} : () -> tensor<*xf32>
 (%3) = "pd.transpose" (%2) {perm:array[1,0]} : (tensor<*xf32>) -> tensor<3x2xf32>
 (%4) = "pd.transpose" (%2) {perm:array[1,0]} : (tensor<*xf32>) -> tensor<5x4xf32>
 (%5) = "pd.mean" (%3) {} : (tensor<3x2xf32>) -> tensor<f32>
 (%6) = "pd.mean" (%4) {} : (tensor<5x4xf32>) -> tensor<f32>
 (%7) = "pd.add" (%5, %6) {} : (tensor<f32>, tensor<f32>) -> tensor<f32>
 (%9) = "pd.add" (%1, %7) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
)",
                   2),
      HasSubstr("gradients of one value: one is tensor<4x5xf32>, one tensor<2x3xf32>"));
}

}  // namespace
}  // namespace weft::tools

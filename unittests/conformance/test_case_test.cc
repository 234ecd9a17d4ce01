#include "unittests/conformance/test_case.h"

#include <gmock/gmock.h>

#include "unittests/conformance/model_ops.h"
#include "unittests/test_paths.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TestCase Judged(const std::string& name) {
  TestCase test = {.suite = "node", .name = name};
  JudgeByName(&test);
  return test;
}

TEST(TestCase, KnowsRandomResultsByName) {
  EXPECT_TRUE(Judged("test_bernoulli_seed").random);
  EXPECT_TRUE(Judged("test_training_dropout_mask").random);
  EXPECT_FALSE(Judged("test_training_dropout_zero_ratio_mask").random);
  EXPECT_FALSE(Judged("test_dropout_default").random);
}

TEST(TestCase, KnowsDisputedDataByName) {
  EXPECT_TRUE(Judged("test_resize_downsample_scales_cubic_align_corners").disputed);
  EXPECT_TRUE(Judged("test_resize_downsample_scales_linear_align_corners__opset18").disputed);
  EXPECT_FALSE(Judged("test_resize_upsample_scales_cubic_align_corners").disputed);
  EXPECT_FALSE(Judged("test_attention_3d").disputed);
}

TEST(TestCase, WidensTolerancesByName) {
  EXPECT_EQ(Judged("test_abs").tolerance.relative, 1e-3);
  EXPECT_EQ(Judged("test_abs").tolerance.absolute, 1e-7);
  EXPECT_EQ(Judged("test_cast_FLOAT_to_FLOAT16").tolerance.relative, 1e-2);
  EXPECT_EQ(Judged("test_dft_axis").tolerance.absolute, 1e-3);
  EXPECT_EQ(Judged("test_dft_axis").tolerance.relative, 1e-3);
}

TEST(TestCase, IsAboutAnOp) {
  std::vector<TestCase> tests = {
      {.name = "test_basic_conv_with_padding", .graph_ops = {"Conv"}},
      {.name = "test_reduce_max_with_cast", .graph_ops = {"Cast", "Reduce", "ReduceMax"}},
      {.name = "test_mvn", .graph_ops = {"MeanVarianceNormalization"}},
      {.name = "test_mvn_expanded_ver18", .graph_ops = {"Add", "Mul"}},
      {.name = "test_reduce_max_other_expanded", .graph_ops = {"Add", "Mul"}},
      {.name = "test_nothing", .graph_ops = {"Add", "Mul"}},
      {.name = "test_of_another_suite"}};
  NameOps(&tests);
  std::vector<std::string> ops;
  for (const TestCase& test : tests) ops.push_back(test.op);
  EXPECT_THAT(ops, ElementsAre("Conv", "ReduceMax", "MeanVarianceNormalization",
                               "MeanVarianceNormalization", "ReduceMax", "?", ""));
}

TEST(OpsOfModel, AreThoseOfItsMainGraph) {
  EXPECT_THAT(OpsOfModel(fixtures::TestData("/models/bert_tiny.onnx")),
              ElementsAre("Add", "Div", "Erf", "MatMul", "Mul", "Pow", "ReduceMean", "Reshape",
                          "Softmax", "Sqrt", "Sub", "Transpose"));
  EXPECT_THAT(OpsOfModel(fixtures::TestData("/README.md")), IsEmpty());
  EXPECT_THAT(OpsOfModel(fixtures::TestData("/no_such_file.onnx")), IsEmpty());
}

}  // namespace
}  // namespace weft::conformance

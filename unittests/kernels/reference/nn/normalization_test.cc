// The reference kernels of normalizations, worked out by hand.
#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using Values = std::vector<double>;

void ExpectValues(const Tensor& actual, const Values& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.values<float>().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual.values<float>()[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << i;
}

TEST(ReferenceLogSoftmax, StaysFiniteWhereSoftmaxVanishes) {
  const float log3 = std::log(3.0f);
  ExpectValues(
      RunOp<ops::LogSoftmax>({F32({2, 2}, {0, log3, 0, 1000})}, {}, {DataType::kF32, {2, 2}}),
      {std::log(0.25), std::log(0.75), -1000, 0});
  ExpectValues(
      RunOp<ops::LogSoftmax>({F32({2, 2}, {0, 5, log3, 5})}, {.axis = 0}, {DataType::kF32, {2, 2}}),
      {std::log(0.25), std::log(0.5), std::log(0.75), std::log(0.5)});
}

TEST(ReferenceBatchNormalization, TrainsOnTheStatisticsOfTheBatch) {
  // Two channels: 1, 3, 5, 7 has mean 4 and variance 5; 2, 2, 4, 4 mean 3 and variance 1.
  const auto results = TryRunOp<ops::BatchNormalization>(
      {F32({2, 2, 2}, {1, 3, 2, 2, 5, 7, 4, 4}), F32({2}, {2, 1}), F32({2}, {0, 10}),
       F32({2}, {8, 1}), F32({2}, {1, 2})},
      {.epsilon = 0.0f, .momentum = 0.75f, .training_mode = 1},
      {{DataType::kF32, {2, 2, 2}}, {DataType::kF32, {2}}, {DataType::kF32, {2}}});
  ASSERT_TRUE(results.ok()) << results.status();
  const double unit = 2 / std::sqrt(5.0);
  ExpectValues((*results)[0], {-3 * unit, -unit, 9, 9, unit, 3 * unit, 11, 11});
  ExpectValues((*results)[1], {8 * 0.75 + 4 * 0.25, 1 * 0.75 + 3 * 0.25});
  ExpectValues((*results)[2], {1 * 0.75 + 5 * 0.25, 2 * 0.75 + 1 * 0.25});
}

TEST(ReferenceBatchNormalization, MayHaveStatisticsOfAnotherType) {
  ExpectValues(
      RunOp<ops::BatchNormalization>({F32({1, 2}, {3, 4}), F32({2}, {2, 1}), F32({2}, {0, 10}),
                                      F64({2}, {1, 2}), F64({2}, {4, 1})},
                                     {.epsilon = 0.0f}, {DataType::kF32, {1, 2}}),
      {2, 12});
}

TEST(ReferenceLayerNormalization, MayGiveStatisticsOfAnotherType) {
  const auto results = TryRunOp<ops::LayerNormalization>(
      {F64({1, 2}, {1, 5}), F64({2}, {1, 1})}, {.epsilon = 0.0f},
      {{DataType::kF64, {1, 2}}, {DataType::kF32, {1, 1}}, {DataType::kF32, {1, 1}}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<double>((*results)[0]), (std::vector<double>{-1, 1}));
  ExpectValues((*results)[1], {3});
  ExpectValues((*results)[2], {0.5});
}

TEST(ReferenceHardmax, MarksTheFirstLargest) {
  ExpectValues(
      RunOp<ops::Hardmax>({F32({2, 3}, {1, 4, 4, NAN, 7, NAN})}, {}, {DataType::kF32, {2, 3}}),
      {0, 1, 0, 1, 0, 0});
  ExpectValues(RunOp<ops::Hardmax>({F32({2, 3}, {1, 4, 4, 3, 4, 5})}, {.axis = -2},
                                   {DataType::kF32, {2, 3}}),
               {0, 1, 0, 1, 0, 1});
}

// Channel c of 4, of the size-3 window c-1..c+1 and of the size-2 window c..c+1.
TEST(ReferenceLrn, SumsTheSquaresOfNeighbouringChannels) {
  const auto lrn = [](int64_t size) {
    return RunOp<ops::LRN>({F32({1, 4, 1}, {1, 2, 3, 4})},
                           {.alpha = 0.5f, .beta = 2.0f, .bias = 1.0f, .size = size},
                           {DataType::kF32, {1, 4, 1}});
  };
  const auto expected = [](double x, double size, double squares) {
    return x / std::pow(1 + 0.5 / size * squares, 2);
  };
  ExpectValues(lrn(3),
               {expected(1, 3, 5), expected(2, 3, 14), expected(3, 3, 29), expected(4, 3, 25)});
  ExpectValues(lrn(2),
               {expected(1, 2, 5), expected(2, 2, 13), expected(3, 2, 25), expected(4, 2, 16)});
}

TEST(ReferenceLrn, TakesAWindowOfAnySize) {
  const Tensor y =
      RunOp<ops::LRN>({F32({2, 2}, {1, 2, 3, 4})}, {.size = std::numeric_limits<int64_t>::max()},
                      {DataType::kF32, {2, 2}});
  ExpectValues(y, {1, 2, 3, 4});
}

TEST(ReferenceLpNormalization, DividesByTheNorm) {
  const auto run = [](int64_t axis, int64_t p) {
    return RunOp<ops::LpNormalization>({F32({2, 2}, {3, -4, 0, 0})}, {.axis = axis, .p = p},
                                       {DataType::kF32, {2, 2}});
  };
  ExpectValues(run(-1, 2), {0.6, -0.8, 0, 0});
  ExpectValues(run(1, 1), {3.0 / 7, -4.0 / 7, 0, 0});
  ExpectValues(run(0, 2), {1, -1, 0, 0});
}

TEST(ReferenceMeanVarianceNormalization, NormalisesOverItsAxes) {
  const auto run = [](ir::Ints axes) {
    return RunOp<ops::MeanVarianceNormalization>(
        {F32({2, 2}, {1, 3, 5, 11})}, {.axes = std::move(axes)}, {DataType::kF32, {2, 2}});
  };
  ExpectValues(run({0}), {-1, -1, 1, 1});
  ExpectValues(run({1}), {-1, 1, -1, 1});
  const double deviation = std::sqrt((16.0 + 4 + 0 + 36) / 4);
  ExpectValues(run({}), {-4 / deviation, -2 / deviation, 0, 6 / deviation});
  ExpectValues(RunOp<ops::MeanVarianceNormalization>({F32({2}, {7, 7})}, {.axes = {0}},
                                                     {DataType::kF32, {2}}),
               {0, 0});
}

TEST(ReferenceGroupNormalization, HasItsStatisticsPerGroupAndItsScalePerChannel) {
  const Tensor y = RunOp<ops::GroupNormalization>(
      {F32({1, 4, 1}, {1, 5, 30, 10}), F32({4}, {1, 2, 3, 4}), F32({4}, {10, 20, 30, 40})},
      {.epsilon = 0.0f, .num_groups = 2}, {DataType::kF32, {1, 4, 1}});
  ExpectValues(y, {9, 22, 33, 36});
}

TEST(ReferenceRmsNormalization, DividesByTheRootMeanSquare) {
  const double rms = std::sqrt(12.5);
  ExpectValues(RunOp<ops::RMSNormalization>({F32({1, 2}, {3, 4}), F32({2}, {1, 10})},
                                            {.epsilon = 0.0f}, {DataType::kF32, {1, 2}}),
               {3 / rms, 40 / rms});
  // Over both axes, with a scale per row.
  ExpectValues(RunOp<ops::RMSNormalization>({F32({2, 2}, {1, 1, 1, 5}), F32({2, 1}, {1, 10})},
                                            {.axis = 0, .epsilon = 2.0f}, {DataType::kF32, {2, 2}}),
               {1.0 / 3, 1.0 / 3, 10.0 / 3, 50.0 / 3});
}

TEST(ReferenceRmsNormalization, GivesTheTypeOfItsScale) {
  const Tensor y = RunOp<ops::RMSNormalization>({F32({2}, {1, 1}), F64({2}, {1, 0.125})},
                                                {.epsilon = 0.0f}, {DataType::kF64, {2}});
  EXPECT_EQ(ValuesOf<double>(y), (std::vector<double>{1, 0.125}));
}

}  // namespace
}  // namespace weft::kernels

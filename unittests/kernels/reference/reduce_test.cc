// The reference kernels of normalizations, softmax and reductions.
#include <cmath>
#include <limits>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using Ints = ir::Ints;

void ExpectValues(const Tensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.values<float>().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual.values<float>()[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << i;
}

TEST(ReferenceBatchNormalization, NormalisesEachChannelWithItsStatistics) {
  const Tensor y =
      RunOp<ops::BatchNormalization>({F32({1, 2, 2}, {1, 3, 10, 30}), F32({2}, {2, 1}),
                                      F32({2}, {0.5, -1}), F32({2}, {1, 10}), F32({2}, {3, 15})},
                                     {.epsilon = 1.0f}, {DataType::kF32, {1, 2, 2}});
  ExpectValues(y, {0.5, 2.5, -1, 4});
}

TEST(ReferenceLayerNormalization, GivesMeanAndInverseDeviationToo) {
  const auto results = TryRunOp<ops::LayerNormalization>(
      {F32({2, 2}, {1, 5, -3, 3}), F32({2}, {2, 3}), F32({2}, {0, 1})}, {.epsilon = 0.0f},
      {{DataType::kF32, {2, 2}}, {DataType::kF32, {2, 1}}, {DataType::kF32, {2, 1}}});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectValues((*results)[0], {-2, 4, -2, 4});
  ExpectValues((*results)[1], {3, 0});
  ExpectValues((*results)[2], {0.5, 1.0 / 3});
}

TEST(ReferenceLayerNormalization, NormalisesOverSeveralAxes) {
  const Tensor y =
      RunOp<ops::LayerNormalization>({F32({1, 2, 2}, {1, 1, 5, 5}), F32({2, 2}, {1, 2, 3, 4})},
                                     {.axis = 1, .epsilon = 0.0f}, {DataType::kF32, {1, 2, 2}});
  ExpectValues(y, {-1, -2, 3, 4});
}

TEST(ReferenceLayerNormalization, BroadcastsScaleAndBiasAsTheirShapesSay) {
  const Tensor y = RunOp<ops::LayerNormalization>(
      {F32({2, 2, 2}, {1, 1, 5, 5, 0, 4, 0, 4}), F32({2, 1}, {1, 2}), F32({2, 1, 1}, {10, 20})},
      {.axis = 1, .epsilon = 0.0f}, {DataType::kF32, {2, 2, 2}});
  ExpectValues(y, {9, 9, 12, 12, 19, 21, 18, 22});
}

TEST(ReferenceLayerNormalization, HasAScalePerRow) {
  const Tensor y = RunOp<ops::LayerNormalization>({F32({2, 2}, {1, 5, 0, 4}), F32({2, 1}, {1, 2})},
                                                  {.epsilon = 0.0f}, {DataType::kF32, {2, 2}});
  ExpectValues(y, {-1, 1, -2, 2});
}

TEST(ReferenceSoftmax, SumsToOneAlongItsAxis) {
  const float log2 = std::log(2.0f), log3 = std::log(3.0f);
  ExpectValues(
      RunOp<ops::Softmax>({F32({2, 2}, {0, log3, 1000, 1000})}, {}, {DataType::kF32, {2, 2}}),
      {0.25, 0.75, 0.5, 0.5});
  ExpectValues(
      RunOp<ops::Softmax>({F32({2, 2}, {0, 0, log3, log2})}, {.axis = 0}, {DataType::kF32, {2, 2}}),
      {0.25, 1.0 / 3, 0.75, 2.0 / 3});
}

TEST(ReferenceReduce, ReducesTheGivenAxes) {
  const auto run = [](auto op, std::optional<Ints> axes, ir::Shape dims) {
    using O = decltype(op);
    return ValuesOf<float>(RunOp<O>({F32({2, 3}, {1, 5, 3, -4, 2, 5})},
                                    {.axes = axes, .keepdims = dims.size() == 2 ? 1 : 0},
                                    {DataType::kF32, dims}));
  };
  EXPECT_EQ(run(ops::ReduceMean(), Ints{-1}, {2, 1}), (F{3, 1}));
  EXPECT_EQ(run(ops::ReduceMax(), Ints{1}, {2}), (F{5, 5}));
  EXPECT_EQ(run(ops::ReduceMin(), Ints{0}, {3}), (F{-4, 2, 3}));
  EXPECT_EQ(run(ops::ReduceMean(), {}, {1, 1}), (F{2}));
}

TEST(ReferenceReduce, KnowsAllFunctions) {
  const auto run = [](auto op) {
    using O = decltype(op);
    return RunOp<O>({F32({2, 2}, {3, -4, 1, 1})}, {.axes = Ints{1}, .keepdims = 0},
                    {DataType::kF32, {2}});
  };
  ExpectValues(run(ops::ReduceSum()), {-1, 2});
  ExpectValues(run(ops::ReduceProd()), {-12, 1});
  ExpectValues(run(ops::ReduceL1()), {7, 2});
  ExpectValues(run(ops::ReduceL2()), {5, std::sqrt(2.0)});
  ExpectValues(run(ops::ReduceSumSquare()), {25, 2});
  ExpectValues(run(ops::ReduceLogSumExp()),
               {std::log(std::exp(3.0) + std::exp(-4.0)), 1 + std::log(2.0)});
  EXPECT_TRUE(std::isnan(run(ops::ReduceLogSum()).values<float>()[0]));
  EXPECT_NEAR(run(ops::ReduceLogSum()).values<float>()[1], std::log(2.0), 1e-6);
}

TEST(ReferenceReduce, TakesLogarithmsOfSumsThatWouldOverflow) {
  const Tensor y =
      RunOp<ops::ReduceLogSumExp>({F64({2}, {1000, 1000})}, {.keepdims = 0}, {DataType::kF64, {}});
  EXPECT_NEAR(y.values<double>()[0], 1000 + std::log(2.0), 1e-9);
}

// Of integers the logarithm is a whole number, and of a negative sum it is no number at all.
TEST(ReferenceReduce, GivesIntegersTheNearestLogarithmTheyHave) {
  const Tensor y = RunOp<ops::ReduceLogSum>(
      {I64({3, 2}, {-3, 1, 0, 0, 20, 1})}, {.axes = Ints{1}, .keepdims = 0}, {DataType::kI64, {3}});
  EXPECT_EQ(ValuesOf<int64_t>(y),
            (std::vector<int64_t>{0, std::numeric_limits<int64_t>::lowest(), 3}));
}

TEST(ReferenceReduce, TakesTheLargestOfBoolAndOfUnsigned) {
  const Tensor any = RunOp<ops::ReduceMax>(
      {Bool({2, 2}, {0, 1, 0, 0})}, {.axes = Ints{1}, .keepdims = 0}, {DataType::kBool, {2}});
  EXPECT_EQ(ValuesOf<uint8_t>(any), (std::vector<uint8_t>{1, 0}));
  const Tensor all = RunOp<ops::ReduceMin>(
      {Bool({2, 2}, {0, 1, 1, 1})}, {.axes = Ints{1}, .keepdims = 0}, {DataType::kBool, {2}});
  EXPECT_EQ(ValuesOf<uint8_t>(all), (std::vector<uint8_t>{0, 1}));
  const Tensor largest =
      RunOp<ops::ReduceMax>({MakeTensor<uint64_t>(DataType::kU64, {2}, {1, UINT64_MAX})},
                            {.keepdims = 0}, {DataType::kU64, {}});
  EXPECT_EQ(ValuesOf<uint64_t>(largest), (std::vector<uint64_t>{UINT64_MAX}));
}

TEST(ReferenceReduce, OfNothingIsTheIdentityOfItsType) {
  const auto run = [](auto op) {
    using O = decltype(op);
    return ValuesOf<int32_t>(
        RunOp<O>({I32({0, 2}, {})}, {.axes = Ints{0}, .keepdims = 0}, {DataType::kI32, {2}}))[0];
  };
  EXPECT_EQ(run(ops::ReduceMax()), INT32_MIN);
  EXPECT_EQ(run(ops::ReduceMin()), INT32_MAX);
  EXPECT_EQ(run(ops::ReduceProd()), 1);
  EXPECT_EQ(run(ops::ReduceSum()), 0);
}

TEST(ReferenceReduce, TakesTheAxesOfASumAsAConstant) {
  const Tensor y = RunOp<ops::ReduceSum>({I64({2, 3}, {1, 2, 3, 4, 5, 6}), Constant(I64({1}, {0}))},
                                         {.keepdims = 0}, {DataType::kI64, {3}});
  EXPECT_EQ(ValuesOf<int64_t>(y), (std::vector<int64_t>{5, 7, 9}));
}

TEST(ReferenceReduce, TakesTheAxesOfASumAtRunTime) {
  const auto sum = [](int64_t axis, ir::Shape dims) {
    return TryRunOp<ops::ReduceSum>({I64({2, 3}, {1, 2, 3, 4, 5, 6}), I64({1}, {axis})},
                                    {.keepdims = 0}, {{DataType::kI64, std::move(dims)}});
  };
  const auto rows = sum(-1, {2});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(ValuesOf<int64_t>((*rows)[0]), (std::vector<int64_t>{6, 15}));
  EXPECT_EQ(sum(0, {2}).status().message(),
            "onnx.ReduceSum: the axes leave 3 elements but the result has 2");
  EXPECT_EQ(sum(2, {2}).status().message(), "onnx.ReduceSum: axis 2 of a tensor of rank 2");
}

TEST(ReferenceReduce, CopiesWhenNoAxesMeansNone) {
  const Tensor y =
      RunOp<ops::ReduceSum>({F32({2}, {1, 2})}, {.noop_with_empty_axes = 1}, {DataType::kF32, {2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{1, 2}));
}

TEST(ReferenceReduce, DoesWhatComesBeforeAndAfterWhenNoAxesMeansNone) {
  const auto noop = [&]<class O>(F x) {
    return ValuesOf<float>(
        RunOp<O>({F32({3}, std::move(x))}, {.noop_with_empty_axes = 1}, {DataType::kF32, {3}}));
  };
  EXPECT_EQ(noop.operator()<ops::ReduceL1>({-1, 2, -3}), (F{1, 2, 3}));
  EXPECT_EQ(noop.operator()<ops::ReduceL2>({-1, 2, -3}), (F{1, 2, 3}));
  EXPECT_EQ(noop.operator()<ops::ReduceSumSquare>({-1, 2, -3}), (F{1, 4, 9}));
  EXPECT_EQ(noop.operator()<ops::ReduceLogSum>({1, 2, 4}), (F{0, std::log(2.0f), std::log(4.0f)}));
  EXPECT_EQ(noop.operator()<ops::ReduceLogSumExp>({-1, 2, -3}), (F{-1, 2, -3}));
  EXPECT_EQ(noop.operator()<ops::ReduceMax>({-1, 2, -3}), (F{-1, 2, -3}));
}

TEST(ReferenceReduce, OfManyFloatsIsAccumulatedInDouble) {
  Tensor x(DataType::kF32, {1, 1 << 20});
  for (float& value : x.values<float>()) value = 0.1f;
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::ReduceMean>({std::move(x)}, {.axes = Ints{1}, .keepdims = 0},
                                                   {DataType::kF32, {1}})),
            (F{0.1f}));
}

}  // namespace
}  // namespace weft::kernels

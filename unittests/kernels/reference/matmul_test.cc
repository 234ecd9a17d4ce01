// The reference kernels of products, convolutions and pools, against hand-made numbers.
#include <limits>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using Ints = ir::Ints;

TEST(ReferenceMatMul, MultipliesStacksOfMatricesWithBroadcasting) {
  // Two matrices [2,2] by one [2,3].
  const Tensor y = RunOp<ops::MatMul>(
      {F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), F32({2, 3}, {1, 0, 2, 0, 1, 3})}, {},
      {DataType::kF32, {2, 2, 3}});
  EXPECT_EQ(ValuesOf<float>(y), (F{1, 2, 8, 3, 4, 18, 5, 6, 28, 7, 8, 38}));
}

TEST(ReferenceMatMul, TakesVectorsOnEitherSide) {
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MatMul>({F32({2}, {1, 2}), F32({2, 3}, {1, 2, 3, 4, 5, 6})},
                                               {}, {DataType::kF32, {3}})),
            (F{9, 12, 15}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MatMul>({F32({2, 2, 1}, {1, 2, 3, 4}), F32({1}, {10})}, {},
                                               {DataType::kF32, {2, 2}})),
            (F{10, 20, 30, 40}));
  EXPECT_EQ(ValuesOf<float>(
                RunOp<ops::MatMul>({F32({2}, {1, 2}), F32({2}, {3, 4})}, {}, {DataType::kF32, {}})),
            (F{11}));
}

TEST(ReferenceMatMul, MultipliesIntegersExactly) {
  const int64_t big = (int64_t{1} << 60) + 1;
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::MatMul>({I64({1, 2}, {big, -1}), I64({2, 1}, {3, 2})}, {},
                                                 {DataType::kI64, {1, 1}})),
            (std::vector<int64_t>{3 * big - 2}));
}

TEST(ReferenceMatMul, OfNothingIsZero) {
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MatMul>({F32({2, 0}, {}), F32({0, 2}, {})}, {},
                                               {DataType::kF32, {2, 2}})),
            (F{0, 0, 0, 0}));
}

TEST(ReferenceGemm, TransposesScalesAndBroadcastsTheAddend) {
  // a^T [2,3], b^T [3,2]: 2 * a^T b^T + 0.5 * c
  const Tensor y = RunOp<ops::Gemm>(
      {F32({3, 2}, {1, 4, 2, 5, 3, 6}), F32({2, 3}, {1, 0, 1, 0, 1, 1}), F32({2, 1}, {10, 20})},
      {.alpha = 2.0f, .beta = 0.5f, .transA = 1, .transB = 1}, {DataType::kF32, {2, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{13, 15, 30, 32}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::Gemm>({F32({1, 2}, {1, 2}), F32({2, 1}, {3, 4})}, {},
                                             {DataType::kF32, {1, 1}})),
            (F{11}));
}

TEST(ReferenceConv, SlidesOverAPaddedImage) {
  // 3x3 image, 2x2 kernel, stride 2, pads (1,1,0,0): windows at rows and columns -1 and 1.
  const Tensor y = RunOp<ops::Conv>({F32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                                     F32({1, 1, 2, 2}, {1, 10, 100, 1000}), F32({1}, {0.5})},
                                    {.pads = Ints{1, 1, 0, 0}, .strides = Ints{2, 2}},
                                    {DataType::kF32, {1, 1, 2, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{1000.5, 3200.5, 7040.5, 9865.5}));
}

TEST(ReferenceConv, KeepsGroupsApartAndSumsChannels) {
  // Two groups of two channels, 1x1 kernels, two outputs a group.
  const Tensor y = RunOp<ops::Conv>(
      {F32({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), F32({4, 2, 1, 1}, {1, 1, 1, -1, 2, 0, 0, 3})},
      {.group = 2}, {DataType::kF32, {1, 4, 1, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{4, 6, -2, -2, 10, 12, 21, 24}));
}

TEST(ReferenceConv, DilatesInOneDimension) {
  const Tensor y =
      RunOp<ops::Conv>({F32({1, 1, 6}, {1, 2, 3, 4, 5, 6}), F32({1, 1, 3}, {1, 10, 100})},
                       {.dilations = Ints{2}}, {DataType::kF32, {1, 1, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{531, 642}));
}

TEST(ReferenceConv, WorksInThreeDimensionsAndBatches) {
  const Tensor y = RunOp<ops::Conv>(
      {F32({2, 1, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), F32({1, 1, 2, 1, 2}, {1, 10, 100, 1000})},
      {}, {DataType::kF32, {2, 1, 1, 1, 1}});
  EXPECT_EQ(ValuesOf<float>(y), (F{4321, 8765}));
}

TEST(ReferenceConv, PadsAutomaticallyAtTheUpperOrLowerEnd) {
  const auto run = [](ops::AutoPad pad) {
    return ValuesOf<float>(RunOp<ops::Conv>({F32({1, 1, 3}, {1, 2, 3}), F32({1, 1, 2}, {1, 10})},
                                            {.auto_pad = pad}, {DataType::kF32, {1, 1, 3}}));
  };
  EXPECT_EQ(run(ops::AutoPad::kSameUpper), (F{21, 32, 3}));
  EXPECT_EQ(run(ops::AutoPad::kSameLower), (F{10, 21, 32}));
}

TEST(ReferenceConv, RefusesGroupsThatDoNotFit) {
  const auto result = TryRunOp<ops::Conv>({Random({1, 4, 3, 3}, 1), Random({4, 3, 1, 1}, 2)},
                                          {.group = 2}, {{DataType::kF32, {1, 4, 3, 3}}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ReferenceMaxPool, LeavesPaddingOutAndDilates) {
  // All values are negative: a padding of zeros would win.
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MaxPool>({F32({1, 1, 4}, {-4, -3, -2, -1})},
                                                {.kernel_shape = Ints{2}, .pads = Ints{1, 1}},
                                                {DataType::kF32, {1, 1, 5}})),
            (F{-4, -3, -2, -1, -1}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MaxPool>({F32({1, 1, 4}, {9, -3, -2, -1})},
                                                {.dilations = Ints{2}, .kernel_shape = Ints{2}},
                                                {DataType::kF32, {1, 1, 2}})),
            (F{9, -1}));
}

TEST(ReferenceMaxPool, SkipsNanUnlessThereIsNothingElse) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor y = RunOp<ops::MaxPool>(
      {F32({1, 1, 10}, {NAN, 5, 7, NAN, NAN, NAN, -kInf, NAN, -kInf, -kInf})},
      {.kernel_shape = Ints{2}, .strides = Ints{2}}, {DataType::kF32, {1, 1, 5}});
  const std::vector<float> values = ValuesOf<float>(y);
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(values[1], 7);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], -kInf);
  EXPECT_EQ(values[4], -kInf);
}

TEST(ReferenceMaxPool, ReachesBeyondTheEndInCeilMode) {
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::MaxPool>(
                {F32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})},
                {.ceil_mode = 1, .kernel_shape = Ints{2, 2}, .strides = Ints{2, 2}},
                {DataType::kF32, {1, 1, 1, 2}})),
            (F{5, 6}));
}

TEST(ReferenceAveragePool, CountsPaddingOnlyWhenAsked) {
  const auto run = [](int64_t include) {
    return ValuesOf<float>(RunOp<ops::AveragePool>(
        {F32({1, 1, 3}, {2, 4, 6})},
        {.count_include_pad = include, .kernel_shape = Ints{2}, .pads = Ints{1, 0}},
        {DataType::kF32, {1, 1, 3}}));
  };
  EXPECT_EQ(run(0), (F{2, 3, 5}));
  EXPECT_EQ(run(1), (F{1, 3, 5}));
}

TEST(ReferenceAveragePool, DoesNotCountWhatCeilModeAdds) {
  EXPECT_EQ(
      ValuesOf<float>(RunOp<ops::AveragePool>(
          {F32({1, 1, 3}, {2, 4, 6})},
          {.ceil_mode = 1, .count_include_pad = 1, .kernel_shape = Ints{2}, .strides = Ints{2}},
          {DataType::kF32, {1, 1, 2}})),
      (F{3, 6}));
}

TEST(ReferenceGlobalAveragePool, IsTheMeanOfEachChannel) {
  EXPECT_EQ(
      ValuesOf<float>(RunOp<ops::GlobalAveragePool>(
          {F32({1, 2, 2, 2}, {1, 2, 3, 6, 10, 20, 30, 40})}, {}, {DataType::kF32, {1, 2, 1, 1}})),
      (F{3, 25}));
}

}  // namespace
}  // namespace weft::kernels

// The reference kernels that read images at places, against numbers worked out by hand.
#include "ir/dialects/onnx/nn/sampling.h"

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

using ops::SampleMode;
using ops::SamplePadding;

// A row of four numbers, read at one place from -1 to 1.
float SampleAt(float place, const ops::GridSample::Attrs<ir::BuilderSlot>& attrs) {
  return RunOp<ops::GridSample>({F32({1, 1, 4}, {1, 10, 100, 1000}), F32({1, 1, 1}, {place})},
                                attrs, {DataType::kF32, {1, 1, 1}})
      .values<float>()[0];
}

TEST(ReferenceGridSample, ReadsBetweenElements) {
  EXPECT_FLOAT_EQ(SampleAt(0, {}), 55);  // at 1.5
  EXPECT_FLOAT_EQ(SampleAt(-0.75, {}), 1);
  EXPECT_FLOAT_EQ(SampleAt(-1, {.align_corners = 1}), 1);
  EXPECT_FLOAT_EQ(SampleAt(-0.5, {.align_corners = 1}), 7.75f);       // at 0.75
  EXPECT_FLOAT_EQ(SampleAt(0, {.mode = SampleMode::kNearest}), 100);  // 1.5 to even
  // Weights -0.09375, 0.59375, 0.59375, -0.09375.
  EXPECT_FLOAT_EQ(SampleAt(0, {.mode = SampleMode::kCubic}), 110 * 0.59375f - 1001 * 0.09375f);
}

TEST(ReferenceGridSample, PadsAsItIsTold) {
  const auto at = [](float place, SamplePadding padding) {
    return SampleAt(place, {.padding_mode = padding});
  };
  EXPECT_FLOAT_EQ(at(-1, SamplePadding::kZeros), 0.5f);  // at -0.5
  EXPECT_FLOAT_EQ(at(-3, SamplePadding::kZeros), 0);
  EXPECT_FLOAT_EQ(at(-3, SamplePadding::kBorder), 1);
  EXPECT_FLOAT_EQ(at(1.5f, SamplePadding::kReflection), 550);  // at 4.5, so 2.5
}

TEST(ReferenceGridSample, ListsTheLastAxisFirst) {
  const Tensor y = RunOp<ops::GridSample>(
      {MakeTensor<uint8_t>(DataType::kU8, {1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}),
       F32({1, 1, 2, 2}, {1, -1, 0, 1})},
      {.align_corners = 1}, {DataType::kU8, {1, 2, 1, 2}});
  EXPECT_EQ(ValuesOf<uint8_t>(y), (std::vector<uint8_t>{3, 5, 13, 15}));
}

TEST(ReferenceAffineGrid, MapsPlaces) {
  // x' = y + 1, y' = 2 x.
  const auto grid = [](int64_t align_corners) {
    return ValuesOf<float>(RunOp<ops::AffineGrid>(
        {F32({1, 2, 3}, {0, 1, 1, 2, 0, 0}), Constant(I64({4}, {1, 1, 1, 2}))},
        {.align_corners = align_corners}, {DataType::kF32, {1, 1, 2, 2}}));
  };
  EXPECT_EQ(grid(0), (F{1, -1, 1, 1}));
  EXPECT_EQ(grid(1), (F{0, -2, 0, 2}));
}

TEST(ReferenceRoiAlign, AveragesPointsOfABin) {
  const Operand x = F32({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto align = [&](ops::RoiAlign::Attrs<ir::BuilderSlot> attrs, int64_t image) {
    return TryRunOp<ops::RoiAlign>({x, F32({1, 4}, {0, 0, 2, 2}), I64({1}, {image})}, attrs,
                                   {{DataType::kF32, {1, 1, 1, 1}}});
  };
  // Points at 0 and 1 in either direction.
  EXPECT_EQ((*align({}, 0))[0].values<float>()[0], 2.5);
  EXPECT_EQ((*align({.mode = ops::RoiMode::kMax}, 0))[0].values<float>()[0], 4);
  // One point at (1, 1).
  EXPECT_EQ((*align({.coordinate_transformation_mode = ops::RoiCoordinates::kOutputHalfPixel,
                     .sampling_ratio = 1},
                    0))[0]
                .values<float>()[0],
            4);
  EXPECT_EQ(align({}, 1).status().message(), "onnx.RoiAlign: there is no image 1");
}

TEST(ReferenceMaxRoiPool, CutsRegionsIntoParts) {
  const Tensor y = RunOp<ops::MaxRoiPool>(
      {F32({1, 1, 2, 4}, {1, 5, 2, 6, 3, 4, 8, 7}), F32({1, 5}, {0, 0, 0, 6, 2})},
      {.pooled_shape = {1, 2}, .spatial_scale = 0.5f}, {DataType::kF32, {1, 1, 1, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{5, 8}));
}

}  // namespace
}  // namespace weft::kernels

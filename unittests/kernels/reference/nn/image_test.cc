// The reference kernel of Resize against coordinates and weights worked out by hand.
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using ops::CoordinateMode;
using ops::NearestMode;
using ops::ResizeMode;
using Attrs = ops::Resize::Attrs<ir::BuilderSlot>;

// One axis, x = 0, 10, 20, ..., by sizes: the results are ten times the coordinates read.
F Resample(int64_t in, int64_t out, const Attrs& attrs) {
  Tensor x(DataType::kF32, {in});
  for (int64_t i = 0; i < in; ++i) x.values<float>()[i] = 10.0f * static_cast<float>(i);
  return ValuesOf<float>(RunOp<ops::Resize>({std::move(x), {}, {}, Constant(I64({1}, {out}))},
                                            attrs, {DataType::kF32, {out}}));
}
void ExpectResampled(int64_t in, int64_t out, const Attrs& attrs, const F& expected) {
  const F actual = Resample(in, out, attrs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

TEST(ReferenceResize, ReadsWhereItsCoordinateModeSays) {
  const auto linear = [](CoordinateMode mode) {
    return Attrs{.coordinate_transformation_mode = mode, .mode = ResizeMode::kLinear};
  };
  // Coordinates -0.25, 0.25, 0.75, ... are clamped to 0..2.
  ExpectResampled(3, 6, linear(CoordinateMode::kHalfPixel), {0, 2.5, 7.5, 12.5, 17.5, 20});
  ExpectResampled(3, 5, linear(CoordinateMode::kAlignCorners), {0, 5, 10, 15, 20});
  ExpectResampled(3, 6, linear(CoordinateMode::kAsymmetric), {0, 5, 10, 15, 20, 20});
  ExpectResampled(4, 2, linear(CoordinateMode::kTfHalfPixelForNn), {10, 30});
  ExpectResampled(4, 1, linear(CoordinateMode::kHalfPixel), {15});
  ExpectResampled(4, 1, linear(CoordinateMode::kPytorchHalfPixel), {0});
  ExpectResampled(4, 2, linear(CoordinateMode::kPytorchHalfPixel), {5, 25});
}

// As ONNX Runtime does: else elements of other batches and channels are read.
TEST(ReferenceResize, ShiftsForTfOnlyWhereASizeChanges) {
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear}) {
    const Attrs attrs{.coordinate_transformation_mode = CoordinateMode::kTfHalfPixelForNn,
                      .mode = mode,
                      .nearest_mode = NearestMode::kCeil};
    ExpectResampled(3, 3, attrs, {0, 10, 20});
    const auto scaled = [&](float scale) {
      return ValuesOf<float>(RunOp<ops::Resize>(
          {F32({3}, {0, 10, 20}), {}, Constant(F32({1}, {scale}))}, attrs, {DataType::kF32, {3}}));
    };
    EXPECT_EQ(scaled(1), (F{0, 10, 20}));
    EXPECT_NE(scaled(1.3f), (F{0, 10, 20}));  // floor(3.9) elements
  }
}

TEST(ReferenceResize, RoundsToTheNeighbourItsModeSays) {
  const auto nearest = [](NearestMode mode) {
    return Attrs{.coordinate_transformation_mode = CoordinateMode::kAsymmetric,
                 .nearest_mode = mode};
  };
  // Coordinates 0, 0.5, 1, 1.5.
  EXPECT_EQ(Resample(2, 4, nearest(NearestMode::kRoundPreferFloor)), (F{0, 0, 10, 10}));
  EXPECT_EQ(Resample(2, 4, nearest(NearestMode::kRoundPreferCeil)), (F{0, 10, 10, 10}));
  // Coordinates 0, 1.5.
  EXPECT_EQ(Resample(3, 2, nearest(NearestMode::kFloor)), (F{0, 10}));
  EXPECT_EQ(Resample(3, 2, nearest(NearestMode::kCeil)), (F{0, 20}));
}

TEST(ReferenceResize, InterpolatesWithKeysCubic) {
  // At 1.5 the weights are a/8, 1/2 - a/8, 1/2 - a/8, a/8; here x = 0, 0, 10, 0.
  const auto at_the_middle = [](float a) {
    return ValuesOf<float>(RunOp<ops::Resize>(
        {F32({4}, {0, 0, 10, 0}), {}, {}, Constant(I64({1}, {1}))},
        {.cubic_coeff_a = a, .mode = ResizeMode::kCubic}, {DataType::kF32, {1}}))[0];
  };
  EXPECT_NEAR(at_the_middle(-0.5f), 5.625, 1e-6);
  EXPECT_NEAR(at_the_middle(-0.75f), 5.9375, 1e-6);
  // At 2.5 of 4 elements with the last tap outside: renormalised, or clamped to the last element.
  const auto after_the_end = [](int64_t exclude_outside) {
    return Resample(4, 8,
                    {.coordinate_transformation_mode = CoordinateMode::kAsymmetric,
                     .cubic_coeff_a = -0.5f,
                     .exclude_outside = exclude_outside,
                     .mode = ResizeMode::kCubic})[5];
  };
  const double outer = -0.0625, inner = 0.5625;  // weights of the four taps, outside in
  EXPECT_NEAR(after_the_end(0), outer * 10 + inner * 20 + inner * 30 + outer * 30, 1e-5);
  EXPECT_NEAR(after_the_end(1), (outer * 10 + inner * 20 + inner * 30) / (1 - outer), 1e-5);
}

TEST(ReferenceResize, InterpolatesOneAxisAfterAnother) {
  const Tensor y =
      RunOp<ops::Resize>({F32({1, 2, 2}, {0, 1, 10, 11}), {}, Constant(F32({3}, {1, 1.5, 1.5}))},
                         {.coordinate_transformation_mode = CoordinateMode::kAlignCorners,
                          .mode = ResizeMode::kLinear},
                         {DataType::kF32, {1, 3, 3}});
  EXPECT_EQ(ValuesOf<float>(y), (F{0, 0.5, 1, 5, 5.5, 6, 10, 10.5, 11}));
}

TEST(ReferenceResize, UsesTheScaleItIsGiven) {
  // 4 * 0.6 is 2 elements, at 0.5 / 0.6 - 0.5 and 1.5 / 0.6 - 0.5; a scale of 2 / 4 would read 0.5 and 2.5.
  const Tensor y = RunOp<ops::Resize>({F32({4}, {0, 10, 20, 30}), {}, Constant(F32({1}, {0.6f}))},
                                      {.mode = ResizeMode::kLinear}, {DataType::kF32, {2}});
  ExpectNear(y, F32({2}, {10.0f / 3, 20}));
}

TEST(ReferenceResize, CropsAndExtrapolates) {
  // From 0.5 to 1.5 of 5 elements: coordinates 2, 4, 6.
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear, ResizeMode::kCubic}) {
    const Tensor y =
        RunOp<ops::Resize>({F32({5}, {0, 10, 20, 30, 40}),
                            Constant(F32({2}, {0.5, 1.5})),
                            {},
                            Constant(I64({1}, {3}))},
                           {.coordinate_transformation_mode = CoordinateMode::kTfCropAndResize,
                            .extrapolation_value = -1.0f,
                            .mode = mode},
                           {DataType::kF32, {3}});
    EXPECT_EQ(ValuesOf<float>(y), (F{20, 40, -1}));
  }
}

TEST(ReferenceResize, NearestCopiesAnyElementType) {
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_EQ(
      ValuesOf<int64_t>(RunOp<ops::Resize>(
          {I64({1, 2}, {large, 2}), {}, Constant(F32({2}, {2, 2}))}, {}, {DataType::kI64, {2, 4}})),
      (std::vector<int64_t>{large, large, 2, 2, large, large, 2, 2}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::Resize>({Bool({2}, {1, 0}), {}, Constant(F32({1}, {2}))},
                                                 {}, {DataType::kBool, {4}})),
            (std::vector<uint8_t>{1, 1, 0, 0}));
}

TEST(ReferenceResize, RefusesToInterpolateIntegersAndToDivideByZero) {
  const auto integers =
      TryRunOp<ops::Resize>({I64({2}, {1, 2}), {}, Constant(F32({1}, {2}))},
                            {.mode = ResizeMode::kLinear}, {{DataType::kI64, {4}}});
  EXPECT_EQ(integers.status().code(), absl::StatusCode::kUnimplemented);
  const auto zero =
      TryRunOp<ops::Resize>({F32({2}, {1, 2}), {}, F32({1}, {0})}, {}, {{DataType::kF32, {4}}});
  EXPECT_EQ(zero.status().message(), "onnx.Resize: axis 0 has no usable scale or roi");
}

TEST(ReferenceResize, StretchesItsFilterToAvoidAliases) {
  // Half as many elements: weights 1, 3, 3, 1 of 8; at the ends the outer ones fall on the last.
  ExpectResampled(4, 2, {.antialias = 1, .mode = ResizeMode::kLinear},
                  {(10 * 3 + 20 * 1) / 8.0f, (10 * 1 + 20 * 3 + 30 * 4) / 8.0f});
  ExpectResampled(4, 2, {.antialias = 1, .exclude_outside = 1, .mode = ResizeMode::kLinear},
                  {(10 * 3 + 20 * 1) / 7.0f, (10 * 1 + 20 * 3 + 30 * 3) / 7.0f});
  ExpectResampled(2, 4, {.antialias = 1, .mode = ResizeMode::kLinear}, {0, 2.5, 7.5, 10});
}

TEST(ReferenceResize, KeepsTheMiddleInTheMiddle) {
  // 5 * 0.5 is 2 elements; their middle is that of x, 20.
  const Tensor y =
      RunOp<ops::Resize>({F32({5}, {0, 10, 20, 30, 40}), {}, Constant(F32({1}, {0.5}))},
                         {.coordinate_transformation_mode = CoordinateMode::kHalfPixelSymmetric,
                          .mode = ResizeMode::kLinear},
                         {DataType::kF32, {2}});
  ExpectNear(y, F32({2}, {10, 30}));
}

TEST(ReferenceResize, FindsHalvesOfScalesThatAreNoBinaryNumbers) {
  const auto nearest = [](int64_t in, float scale, int64_t out, CoordinateMode coordinates,
                          ops::NearestMode mode) {
    Tensor x(DataType::kF32, {in});
    for (int64_t i = 0; i < in; ++i) x.values<float>()[i] = static_cast<float>(i);
    return ValuesOf<float>(
        RunOp<ops::Resize>({std::move(x), {}, Constant(F32({1}, {scale}))},
                           {.coordinate_transformation_mode = coordinates, .nearest_mode = mode},
                           {DataType::kF32, {out}}));
  };
  // 3.5 / 0.7 - 0.5 is 4.5.
  EXPECT_EQ(nearest(8, 0.7f, 5, CoordinateMode::kHalfPixel, ops::NearestMode::kRoundPreferFloor),
            (F{0, 2, 3, 4, 6}));
  // 8 * 7 / 16 is 3.5, where no scale is given.
  const Tensor y =
      RunOp<ops::Resize>({F32({7}, {0, 1, 2, 3, 4, 5, 6}), {}, {}, Constant(I64({1}, {16}))},
                         {.coordinate_transformation_mode = CoordinateMode::kAsymmetric,
                          .nearest_mode = ops::NearestMode::kRoundPreferCeil},
                         {DataType::kF32, {16}});
  EXPECT_EQ(ValuesOf<float>(y)[8], 4);
  // The middle of 19 elements is that of 9, which has the index 4.
  EXPECT_EQ(nearest(9, 2.15f, 19, CoordinateMode::kHalfPixelSymmetric, ops::NearestMode::kFloor)[9],
            4);
}

TEST(ReferenceResize, ResizesTheAxesItNames) {
  const Operand x = F32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::Resize>({x, {}, Constant(F32({1}, {2}))}, {.axes = {-1}},
                                               {DataType::kF32, {2, 4}})),
            (F{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::Resize>(
                {x, {}, {}, Constant(I64({2}, {9, 4}))},
                {.axes = {0, 1}, .keep_aspect_ratio_policy = ops::AspectRatioPolicy::kNotLarger},
                {DataType::kF32, {4, 4}})),
            (F{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
}

TEST(ReferenceResize, DropsTheFractionsOfIntegers) {
  const Attrs linear = {.coordinate_transformation_mode = CoordinateMode::kAsymmetric,
                        .mode = ResizeMode::kLinear};
  const auto twice = [&](DataType dtype, auto values) {
    using T = typename decltype(values)::value_type;
    return ValuesOf<T>(
        RunOp<ops::Resize>({MakeTensor<T>(dtype, {3}, values), {}, {}, Constant(I64({1}, {6}))},
                           linear, {dtype, {6}}));
  };
  EXPECT_EQ(twice(DataType::kU8, std::vector<uint8_t>{1, 4, 255}),
            (std::vector<uint8_t>{1, 2, 4, 129, 255, 255}));
  EXPECT_EQ(twice(DataType::kI8, std::vector<int8_t>{-4, -1, 2}),
            (std::vector<int8_t>{-4, -2, -1, 0, 2, 2}));
  EXPECT_EQ(
      twice(DataType::kI32, std::vector<int32_t>{2147483647, 2147483646, -2147483647}),
      (std::vector<int32_t>{2147483647, 2147483646, 2147483646, 0, -2147483647, -2147483647}));
  // Of half the size, channels last: means of four.
  EXPECT_EQ(
      ValuesOf<uint8_t>(RunOp<ops::Resize>(
          {MakeTensor<uint8_t>(DataType::kU8, {1, 2, 2, 2}, {10, 0, 20, 255, 30, 255, 41, 255}),
           {},
           Constant(F32({4}, {1, 0.5f, 0.5f, 1}))},
          {.mode = ResizeMode::kLinear}, {DataType::kU8, {1, 1, 1, 2}})),
      (std::vector<uint8_t>{25, 191}));
}

// Weights of thirds and sevenths, whose sums in double are not always 1.
TEST(ReferenceResize, KeepsIntegersThatAreAllTheSame) {
  for (const int64_t in : {3, 5, 7, 49})
    for (const int64_t out : {4, 11, 64, 97}) {
      const Tensor y = RunOp<ops::Resize>(
          {MakeTensor<uint8_t>(DataType::kU8, {in, in},
                               std::vector<uint8_t>(static_cast<size_t>(in * in), 251)),
           {},
           {},
           Constant(I64({2}, {out, out}))},
          {.mode = ResizeMode::kLinear}, {DataType::kU8, {out, out}});
      EXPECT_EQ(ValuesOf<uint8_t>(y), std::vector<uint8_t>(static_cast<size_t>(out * out), 251));
    }
}

TEST(ReferenceResize, LeavesOutWhatWouldLeaveTheRangeOfIntegers) {
  const auto refused = [](DataType dtype, const Attrs& attrs) {
    const auto run =
        TryRunOp<ops::Resize>({*RandomTensor(dtype, {4}, 1, 100), {}, {}, Constant(I64({1}, {2}))},
                              attrs, {{dtype, {2}}});
    return absl::IsUnimplemented(run.status());
  };
  EXPECT_TRUE(refused(DataType::kU8, {.mode = ResizeMode::kCubic}));
  EXPECT_TRUE(refused(DataType::kU8, {.antialias = 1, .mode = ResizeMode::kLinear}));
  EXPECT_TRUE(refused(DataType::kI64, {.mode = ResizeMode::kLinear}));
  EXPECT_TRUE(refused(DataType::kBool, {.mode = ResizeMode::kLinear}));
}

}  // namespace
}  // namespace weft::kernels

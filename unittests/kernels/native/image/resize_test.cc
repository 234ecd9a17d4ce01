// onnx.Resize: the native kernel against the reference, in every mode, on axes of every kind.
#include <cmath>
#include <limits>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/simd/simd_test_util.h"
#include "unittests/sanitizers.h"

namespace weft::kernels {
namespace {

using ops::CoordinateMode;
using ops::NearestMode;
using ops::ResizeMode;
using Attrs = ops::Resize::Attrs<ir::BuilderSlot>;

struct Sizes {
  ir::Shape in, out;
};
// Longer, shorter and both at once; images of either layout; rows of 1 to 67 elements; volumes.
const std::vector<Sizes> kSizes = {
    {{2, 3, 5, 7}, {2, 3, 10, 14}},   {{1, 4, 6, 9}, {1, 4, 13, 67}},
    {{1, 8, 12, 3}, {1, 4, 6, 3}},    {{2, 5, 7, 16}, {2, 10, 21, 16}},
    {{1, 2, 33, 20}, {1, 2, 11, 40}}, {{3, 2, 4, 5, 6}, {3, 2, 8, 5, 9}},
    {{1, 1, 1, 1}, {1, 1, 3, 1}},     {{4, 70}, {4, 35}}};

const CoordinateMode kOfInterpolation[] = {
    CoordinateMode::kHalfPixel, CoordinateMode::kPytorchHalfPixel, CoordinateMode::kAlignCorners,
    CoordinateMode::kAsymmetric, CoordinateMode::kHalfPixelSymmetric};

Operand SizesAs(const ir::Shape& dims) {
  return Constant(I64({static_cast<int64_t>(dims.size())}, {dims.begin(), dims.end()}));
}

void ExpectAgreement(const Attrs& attrs, double tolerance, DataType dtype = DataType::kF32) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    SCOPED_TRACE(std::string(IsaName(isa)));
    for (const auto& [in, out] : kSizes)
      Agreement<ops::Resize>({*RandomTensor(dtype, in, 1, 0), {}, {}, SizesAs(out)}, attrs,
                             {{dtype, out}})
          .Of("native", tolerance);
  }
}

TEST(NativeResize, InterpolatesAsTheReferenceDoes) {
  for (const CoordinateMode coordinates : kOfInterpolation)
    for (const ResizeMode mode : {ResizeMode::kLinear, ResizeMode::kCubic})
      for (const int64_t antialias : {0, 1})
        for (const int64_t exclude_outside : {0, 1}) {
          if (kSanitized && antialias != exclude_outside) continue;  // minutes
          ExpectAgreement({.antialias = antialias,
                           .coordinate_transformation_mode = coordinates,
                           .exclude_outside = exclude_outside,
                           .mode = mode},
                          2e-6);
        }
}

TEST(NativeResize, CopiesTheNeighboursOfTheReference) {
  for (const CoordinateMode coordinates :
       {CoordinateMode::kHalfPixel, CoordinateMode::kAsymmetric, CoordinateMode::kTfHalfPixelForNn})
    for (const NearestMode nearest : {NearestMode::kRoundPreferFloor, NearestMode::kRoundPreferCeil,
                                      NearestMode::kFloor, NearestMode::kCeil})
      ExpectAgreement({.coordinate_transformation_mode = coordinates, .nearest_mode = nearest}, 0);
}

TEST(NativeResize, DropsFractionsOfIntegers) {
  for (const CoordinateMode coordinates : kOfInterpolation)
    for (const DataType dtype : {DataType::kU8, DataType::kI8})
      ExpectAgreement({.coordinate_transformation_mode = coordinates, .mode = ResizeMode::kLinear},
                      0, dtype);
  // Whole numbers stay what they are, though thirds and sixths of them are summed.
  const Tensor y = RunOp<ops::Resize>(
      {MakeTensor(DataType::kU8, {1, 1, 2, 3}, std::vector<uint8_t>(6, 7)),
       {},
       {},
       SizesAs({1, 1, 6, 9})},
      {.mode = ResizeMode::kLinear}, {DataType::kU8, {1, 1, 6, 9}}, {.provider = "native"});
  EXPECT_EQ(ValuesOf<uint8_t>(y), std::vector<uint8_t>(54, 7));
}

TEST(NativeResize, InterpolatesDoubles) {
  for (const ResizeMode mode : {ResizeMode::kLinear, ResizeMode::kCubic})
    for (const int64_t antialias : {0, 1})
      ExpectAgreement({.antialias = antialias, .mode = mode}, 1e-14, DataType::kF64);
}

TEST(NativeResize, LeavesOtherIntegersToTheReference) {
  Agreement<ops::Resize>({I32({1, 1, 2}, {1, 1 << 30}), {}, {}, SizesAs({1, 1, 5})},
                         {.mode = ResizeMode::kLinear}, {{DataType::kI32, {1, 1, 5}}})
      .Of("reference", 0);
}

TEST(NativeResize, TakesScalesAndAxes) {
  const Operand scales = Constant(F32({2}, {0.7f, 2.5f}));
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear, ResizeMode::kCubic})
    Agreement<ops::Resize>({Random({2, 10, 6, 3}, 1), {}, scales},
                           {.axes = ir::Ints{1, -2}, .mode = mode}, {FloatResult({2, 7, 15, 3})})
        .Of("native", 2e-6);
}

TEST(NativeResize, CopiesElementsOfAnySize) {
  for (const DataType dtype : {DataType::kU8, DataType::kF16, DataType::kI32, DataType::kF64}) {
    const auto x = [&] { return *RandomTensor(dtype, {2, 3, 5, 4}, 1, 100); };
    Agreement<ops::Resize>({x(), {}, {}, SizesAs({2, 3, 10, 7})}, {}, {{dtype, {2, 3, 10, 7}}})
        .Of("native", 0);
    Agreement<ops::Resize>({x(), {}, {}, SizesAs({2, 6, 2, 4})}, {}, {{dtype, {2, 6, 2, 4}}})
        .Of("native", 0);
  }
}

TEST(NativeResize, NeedNotKnowTheSizesOfItsResult) {
  const auto sizes = [] { return I64({4}, {1, 2, 6, 8}); };
  Agreement<ops::Resize>({Random({1, 2, 3, 4}, 1), {}, {}, sizes()}, {.mode = ResizeMode::kLinear},
                         {FloatResult({1, 2, 6, 8})})
      .Of("native", 2e-6);
}

TEST(NativeResize, LeavesCropsToTheReference) {
  const OpProgram crop = OpProgram::Make<ops::Resize>(
      {Random({1, 1, 4, 4}, 1),
       Constant(F32({8}, {0, 0, 0.2f, 0.1f, 1, 1, 0.8f, 1.3f})),
       {},
       SizesAs({1, 1, 3, 3})},
      {.coordinate_transformation_mode = CoordinateMode::kTfCropAndResize,
       .mode = ResizeMode::kLinear},
      {FloatResult({1, 1, 3, 3})});
  EXPECT_EQ(crop.ProviderOf({.provider = "auto"}), "reference");
}

// An infinity stays where the reference has it, and makes no NaN of its neighbours.
TEST(NativeResize, KeepsInfinitiesAndNans) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const ir::Shape& out : {ir::Shape{5, 9}, {5, 18}, {11, 4}, {3, 27}}) {
    Tensor x = Random({5, 9}, 1);
    x.values<float>()[4] = kInf;
    x.values<float>()[22] = -kInf;
    x.values<float>()[31] = kNan;
    const OpProgram program = OpProgram::Make<ops::Resize>(
        {std::move(x), {}, {}, SizesAs(out)}, {.mode = ResizeMode::kLinear}, {FloatResult(out)});
    const std::vector<float> expected = ValuesOf<float>((*program.Run({}))[0]),
                             actual = ValuesOf<float>((*program.Run({.provider = "native"}))[0]);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
      else
        EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(actual[i]) : actual[i] == expected[i])
            << i;
    }
  }
}

}  // namespace
}  // namespace weft::kernels

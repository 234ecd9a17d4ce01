// onnx.MaxRoiPool: the native kernel against the reference.
#include <cmath>
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

// Of two images: inside, across borders, outside, turned round.
Tensor Regions(int64_t count, float size) {
  Tensor rois = RandomIn({count, 5}, 2, -0.3f * size, 1.3f * size);
  for (int64_t i = 0; i < count; ++i) rois.values<float>()[5 * i] = i % 2 == 0 ? 0 : 1.6f;
  return rois;
}

TEST(NativeMaxRoiPool, AgreesWithTheReference) {
  for (const float scale : {1.0f, 0.25f})
    for (const auto& [height, width] : {std::pair(20, 13), {1, 1}, {5, 40}})
      for (const auto& [rows, columns] : {std::pair(1, 1), {3, 4}, {7, 7}, {30, 2}}) {
        SCOPED_TRACE(std::to_string(rows) + " of " + std::to_string(height));
        Agreement<ops::MaxRoiPool>(
            {Random({2, 5, height, width}, 1), Regions(9, static_cast<float>(width) / scale)},
            {.pooled_shape = {rows, columns}, .spatial_scale = scale},
            {FloatResult({9, 5, rows, columns})})
            .Of("native", 0);
      }
}

// NaN is passed over, also where there is nothing else; zeros keep the sign that the reference gives them.
TEST(NativeMaxRoiPool, TakesSpecialValuesAsTheReferenceDoes) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto program = OpProgram::Make<ops::MaxRoiPool>(
      {F32({1, 1, 3, 4}, {kNan, 1, -kInf, kNan, 0.0f, -0.0f, -0.0f, 0.0f, kInf, -1, kNan, kNan}),
       F32({3, 5}, {0, 0, 0, 3, 2, 0, 2, 0, 3, 2, 0, 0, 1, 1, 2})},
      {.pooled_shape = {3, 2}, .spatial_scale = 1}, {FloatResult({3, 1, 3, 2})});
  const auto native = program.Run({.provider = "native"});
  const auto reference = program.Run({.provider = "reference"});
  ASSERT_TRUE(native.ok() && reference.ok());
  EXPECT_EQ(CountDifferent((*native)[0].view(), (*reference)[0].view()), 0);
}

TEST(NativeMaxRoiPool, RefusesWhatTheReferenceRefuses) {
  const auto status = [](float image, float right, const std::string& provider) {
    return TryRunOp<ops::MaxRoiPool>(
               {Random({2, 3, 4, 4}, 1), F32({2, 5}, {0, 0, 0, 1, 1, image, 0, 0, right, 1})},
               {.pooled_shape = {1, 1}}, {FloatResult({2, 3, 1, 1})}, {.provider = provider})
        .status();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [image, right] : {std::pair(2.0f, 1.0f), {-1, 1}, {nan, 1}, {0, nan}}) {
    EXPECT_EQ(status(image, right, "native").code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status(image, right, "native"), status(image, right, "reference"));
  }
}

TEST(NativeMaxRoiPool, LeavesOtherElementsToTheReference) {
  const OpProgram doubles =
      OpProgram::Make<ops::MaxRoiPool>({F64({1, 1, 1, 2}, {1, 2}), F64({1, 5}, {0, 0, 0, 1, 1})},
                                       {.pooled_shape = {1, 1}}, {{DataType::kF64, {1, 1, 1, 1}}});
  EXPECT_EQ(doubles.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels

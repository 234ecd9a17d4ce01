// onnx.RoiAlign: the native kernel against the reference.
#include <cmath>
#include <limits>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Attrs = ops::RoiAlign::Attrs<ir::BuilderSlot>;
using ops::RoiCoordinates;
using ops::RoiMode;

// Regions of an image of that size: inside, across its borders, outside, of no size, turned round.
Tensor Regions(int64_t count, float height, float width) {
  Tensor rois = RandomIn({count, 4}, 2, -0.3f, 1.3f);
  const std::span<float> values = rois.values<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] *= i % 2 == 0 ? width : height;
  std::fill_n(values.begin(), 4, 2.0f);
  return rois;
}
Tensor Images(int64_t count, int64_t images) {
  Tensor indices = I64({count}, std::vector<int64_t>(static_cast<size_t>(count)));
  for (int64_t i = 0; i < count; ++i) indices.values<int64_t>()[i] = i % images;
  return indices;
}

struct Case {
  ir::Shape x;
  int64_t regions, rows, columns, sampling_ratio;
  float scale = 1;

  OpProgram Program(RoiMode mode, RoiCoordinates coordinates, Tensor image) const {
    const auto along = [&](size_t i) { return static_cast<float>(x[i]) / scale; };
    return OpProgram::Make<ops::RoiAlign>(
        {std::move(image), Regions(regions, along(2), along(3)), Images(regions, x[0])},
        Attrs{.coordinate_transformation_mode = coordinates,
              .mode = mode,
              .output_height = rows,
              .output_width = columns,
              .sampling_ratio = sampling_ratio,
              .spatial_scale = scale},
        {FloatResult({regions, x[1], rows, columns})});
  }
};

const std::vector<Case> kCases = {
    {{2, 3, 9, 12}, 7, 3, 4, 2},    {{1, 40, 20, 17}, 2, 7, 7, 0, 0.5f},
    {{3, 2, 1, 1}, 4, 1, 1, 3},     {{1, 2, 30, 40}, 5, 2, 1, 0, 0.25f},  // many points
    {{1, 3, 8, 8}, 3, 9, 11, 1, 2},
};

template <class Body>
void ForEachMode(const Body& body) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const RoiMode mode : {RoiMode::kAvg, RoiMode::kMax})
      for (const RoiCoordinates coordinates :
           {RoiCoordinates::kHalfPixel, RoiCoordinates::kOutputHalfPixel})
        for (const Case& c : kCases) {
          SCOPED_TRACE(std::string(IsaName(isa)) + ", " + ir::ToString(c.x));
          body(mode, coordinates, c);
        }
  }
}

TEST(NativeRoiAlign, AgreesWithTheReference) {
  ForEachMode([](RoiMode mode, RoiCoordinates coordinates, const Case& c) {
    AgreementOf(c.Program(mode, coordinates, Random(c.x, 1))).Of("native", 2e-6);
  });
}

// Element 0 too, which stands for what lies outside.
TEST(NativeRoiAlign, KeepsInfinitiesAndNans) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float special : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()})
    ForEachMode([&](RoiMode mode, RoiCoordinates coordinates, const Case& c) {
      Tensor x = Random(c.x, 1);
      const std::span<float> values = x.values<float>();
      for (size_t i = 0; i < values.size(); i += 23) values[i] = special;
      AgreementOf(c.Program(mode, coordinates, std::move(x))).Of("native", 2e-6);
    });
}

TEST(NativeRoiAlign, RefusesWhatTheReferenceRefuses) {
  const auto status = [](float right, int64_t image, const std::string& provider) {
    return TryRunOp<ops::RoiAlign>(
               {Random({2, 3, 4, 4}, 1), F32({2, 4}, {0, 0, 1, 1, 0, 0, right, 1}),
                I64({2}, {1, image})},
               {}, {FloatResult({2, 3, 1, 1})}, {.provider = provider})
        .status();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [right, image] : {std::pair(1.0f, int64_t{2}), {1, -1}, {1e9f, 0}, {nan, 0}}) {
    EXPECT_EQ(status(right, image, "native").code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status(right, image, "native"), status(right, image, "reference"));
  }
}

TEST(NativeRoiAlign, LeavesOtherElementsToTheReference) {
  const OpProgram doubles = OpProgram::Make<ops::RoiAlign>(
      {F64({1, 1, 1, 2}, {1, 2}), F64({1, 4}, {0, 0, 1, 1}), I64({1}, {0})}, {},
      {{DataType::kF64, {1, 1, 1, 1}}});
  EXPECT_EQ(doubles.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels

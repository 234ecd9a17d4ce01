// onnx.GridSample: the native kernel against the reference, in every mode.
#include <cmath>
#include <limits>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using ops::SampleMode;
using ops::SamplePadding;
using Attrs = ops::GridSample::Attrs<ir::BuilderSlot>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class Body>
void ForEachMode(const Body& body) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const SampleMode mode : {SampleMode::kNearest, SampleMode::kLinear, SampleMode::kCubic})
      for (const SamplePadding padding :
           {SamplePadding::kZeros, SamplePadding::kBorder, SamplePadding::kReflection})
        for (const int64_t align_corners : {0, 1}) {
          SCOPED_TRACE(std::string(IsaName(isa)) + ", mode " +
                       std::to_string(static_cast<int>(mode)) + ", padding " +
                       std::to_string(static_cast<int>(padding)) + ", " +
                       std::to_string(align_corners));
          body(Attrs{.align_corners = align_corners, .mode = mode, .padding_mode = padding});
        }
  }
}

// Images, rows and volumes; whole vectors of places, and some more; more of them than a task has; axes of 1.
TEST(NativeGridSample, AgreesWithTheReference) {
  struct Sizes {
    ir::Shape x, places;
  };
  const std::vector<Sizes> sizes = {
      {{2, 3, 6, 5}, {7, 9}}, {{1, 2, 7, 1}, {4, 4}},       {{1, 1, 31, 40}, {67, 63}},
      {{3, 2, 11}, {37}},     {{2, 2, 3, 4, 5}, {2, 3, 5}}, {{1, 5, 1, 1}, {1, 1}},
  };
  ForEachMode([&](const Attrs& attrs) {
    for (const Sizes& s : sizes) {
      SCOPED_TRACE(ir::ToString(s.x));
      ir::Shape grid = {s.x[0]}, y = {s.x[0], s.x[1]};
      grid.insert(grid.end(), s.places.begin(), s.places.end());
      grid.push_back(static_cast<int64_t>(s.places.size()));
      y.insert(y.end(), s.places.begin(), s.places.end());
      Agreement<ops::GridSample>({Random(s.x, 1), RandomIn(grid, 2, -1.7f, 1.7f)}, attrs,
                                 {FloatResult(y)})
          .Of("native", 2e-6);
    }
  });
}

// Places on elements, halfway between them, on borders, far away, and none at all.
TEST(NativeGridSample, ReadsSpecialPlacesAndValuesAsTheReferenceDoes) {
  const std::vector<float> along = {-1,   -0.75f, -0.5f, 0,    0.25f, 0.5f, 1,
                                    1.5f, -3,     7,     1e9f, -kInf, kInf, kNan};
  const auto n = static_cast<int64_t>(along.size());
  std::vector<float> places;
  for (const float y : along)
    for (const float x : along) places.insert(places.end(), {x, y});
  ForEachMode([&](const Attrs& attrs) {
    for (const float special : {1.0f, kInf, -kInf, kNan}) {
      Tensor x = Random({1, 2, 4, 4}, 1);
      for (const size_t i : {0, 9, 31}) x.values<float>()[i] = special;
      Agreement<ops::GridSample>({std::move(x), F32({1, n, n, 2}, places)}, attrs,
                                 {FloatResult({1, 2, n, n})})
          .Of("native", 2e-6);
    }
  });
}

TEST(NativeGridSample, LeavesOtherElementsToTheReference) {
  const OpProgram bytes = OpProgram::Make<ops::GridSample>(
      {*RandomTensor(DataType::kU8, {1, 1, 4, 4}, 1, 200), Random({1, 2, 2, 2}, 2)}, {},
      {{DataType::kU8, {1, 1, 2, 2}}});
  EXPECT_EQ(bytes.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels

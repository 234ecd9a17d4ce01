// Resampling to another size.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
constexpr std::array<std::string_view, 3> EnumNames(ResizeMode) {
  return {"nearest", "linear", "cubic"};
}
// Which neighbour is the nearest one.
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
constexpr std::array<std::string_view, 4> EnumNames(NearestMode) {
  return {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
}
// Where an element of the result lies in x. kTfHalfPixelForNn was dropped from ONNX with opset 13, but older
// models have it and runtimes keep it.
enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
  kTfHalfPixelForNn,
  kHalfPixelSymmetric,
};
constexpr std::array<std::string_view, 7> EnumNames(CoordinateMode) {
  return {"half_pixel",         "pytorch_half_pixel",   "align_corners",       "asymmetric",
          "tf_crop_and_resize", "tf_half_pixel_for_nn", "half_pixel_symmetric"};
}
// Whether sizes are the result's, or bounds of a result that is x times one factor.
enum class AspectRatioPolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };
constexpr std::array<std::string_view, 3> EnumNames(AspectRatioPolicy) {
  return {"stretch", "not_larger", "not_smaller"};
}

// Either scales or sizes say how large the result is, one entry for each of `axes` (all dimensions
// unless given); the other is absent or empty. roi, all starts then all ends as fractions of x, is for
// tf_crop_and_resize only.
struct Resize {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Resize",
      .operands = {"x", Optional("roi"), Optional("scales"), Optional("sizes")},
      .onnx = "Resize",
      .since = 19,
      .doc = "x resampled to another size",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> antialias{};
    Slot<std::optional<Ints>> axes{};
    Slot<CoordinateMode> coordinate_transformation_mode{};
    Slot<float> cubic_coeff_a{};
    Slot<int64_t> exclude_outside{};
    Slot<float> extrapolation_value{};
    Slot<AspectRatioPolicy> keep_aspect_ratio_policy{};
    Slot<ResizeMode> mode{};
    Slot<NearestMode> nearest_mode{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"antialias", &Attrs::antialias, int64_t{0}}, Field{"axes", &Attrs::axes},
          Field{"coordinate_transformation_mode", &Attrs::coordinate_transformation_mode,
                CoordinateMode::kHalfPixel},
          Field{"cubic_coeff_a", &Attrs::cubic_coeff_a, -0.75f},
          Field{"exclude_outside", &Attrs::exclude_outside, int64_t{0}},
          Field{"extrapolation_value", &Attrs::extrapolation_value, 0.0f},
          Field{"keep_aspect_ratio_policy", &Attrs::keep_aspect_ratio_policy,
                AspectRatioPolicy::kStretch},
          Field{"mode", &Attrs::mode, ResizeMode::kNearest},
          Field{"nearest_mode", &Attrs::nearest_mode, NearestMode::kRoundPreferFloor});
    }
  };
  static bool Infer(InferContext& c);
};

// The one factor of a Resize that keeps the aspect ratio; nullopt for kStretch, where there is none.
std::optional<double> AspectRatioFactor(AspectRatioPolicy policy,
                                        const std::vector<double>& ratios);

void LoadImageOps(IrContext& context);

}  // namespace weft::ir::ops

// Resampling to another size.
#pragma once

#include <array>

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
// Where an element of the result lies in x. The last was dropped from ONNX with opset 13, but older
// models have it and runtimes keep it.
enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
  kTfHalfPixelForNn,
};
constexpr std::array<std::string_view, 6> EnumNames(CoordinateMode) {
  return {"half_pixel", "pytorch_half_pixel", "align_corners",
          "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"};
}

// Either scales or sizes say how large the result is, one entry per dimension; the other is absent
// or empty. roi, all starts then all ends as fractions of x, is for tf_crop_and_resize only.
struct Resize {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Resize",
      .operands = {"x", Optional("roi"), Optional("scales"), Optional("sizes")},
      .onnx = "Resize",
      .since = 13,
      .doc = "x resampled to another size",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<CoordinateMode> coordinate_transformation_mode{};
    Slot<float> cubic_coeff_a{};
    Slot<int64_t> exclude_outside{};
    Slot<float> extrapolation_value{};
    Slot<ResizeMode> mode{};
    Slot<NearestMode> nearest_mode{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"coordinate_transformation_mode", &Attrs::coordinate_transformation_mode,
                CoordinateMode::kHalfPixel},
          Field{"cubic_coeff_a", &Attrs::cubic_coeff_a, -0.75f},
          Field{"exclude_outside", &Attrs::exclude_outside, int64_t{0}},
          Field{"extrapolation_value", &Attrs::extrapolation_value, 0.0f},
          Field{"mode", &Attrs::mode, ResizeMode::kNearest},
          Field{"nearest_mode", &Attrs::nearest_mode, NearestMode::kRoundPreferFloor});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadImageOps(IrContext& context);

}  // namespace weft::ir::ops

// Reading images at places that operands say.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

enum class SampleMode : uint8_t { kLinear, kNearest, kCubic };
constexpr std::array<std::string_view, 3> EnumNames(SampleMode) {
  return {"linear", "nearest", "cubic"};
}
enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };
constexpr std::array<std::string_view, 3> EnumNames(SamplePadding) {
  return {"zeros", "border", "reflection"};
}

// x is [N, C, in...], grid [N, out..., spatial dimensions]: places from -1 to 1, last dimension first;
// the result is [N, C, out...].
struct GridSample {
  static constexpr OpInfo kInfo = {.name = "onnx.GridSample",
                                   .operands = {"x", "grid"},
                                   .onnx = "GridSample",
                                   .since = 22,
                                   .doc = "x read at the places of a grid",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> align_corners{};
    Slot<SampleMode> mode{};
    Slot<SamplePadding> padding_mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"align_corners", &Attrs::align_corners, int64_t{0}},
                        Field{"mode", &Attrs::mode, SampleMode::kLinear},
                        Field{"padding_mode", &Attrs::padding_mode, SamplePadding::kZeros});
    }
  };
  static bool Infer(InferContext& c);
};

// theta is [N, 2, 3] or [N, 3, 4], size [N, C, H, W] or [N, C, D, H, W] as numbers; the result is
// [N, H, W, 2] or [N, D, H, W, 3], a grid for GridSample.
struct AffineGrid {
  static constexpr OpInfo kInfo = {.name = "onnx.AffineGrid",
                                   .operands = {"theta", "size"},
                                   .onnx = "AffineGrid",
                                   .since = 20,
                                   .doc = "the places that affine maps send those of an image to",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> align_corners{};
    static constexpr auto Fields() {
      return std::tuple(Field{"align_corners", &Attrs::align_corners, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

enum class RoiCoordinates : uint8_t { kHalfPixel, kOutputHalfPixel };
constexpr std::array<std::string_view, 2> EnumNames(RoiCoordinates) {
  return {"half_pixel", "output_half_pixel"};
}
enum class RoiMode : uint8_t { kAvg, kMax };
constexpr std::array<std::string_view, 2> EnumNames(RoiMode) { return {"avg", "max"}; }

// x is [N, C, H, W], rois [R, 4] of x1, y1, x2, y2, batch_indices [R]. Each of output_height by
// output_width bins is the mean or the maximum of sampling_ratio^2 points (0: one per element).
struct RoiAlign {
  static constexpr OpInfo kInfo = {.name = "onnx.RoiAlign",
                                   .operands = {"x", "rois", "batch_indices"},
                                   .onnx = "RoiAlign",
                                   .since = 22,
                                   .doc = "regions of images, resampled to one size",
                                   .data = OverOperands(0, 1)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<RoiCoordinates> coordinate_transformation_mode{};
    Slot<RoiMode> mode{};
    Slot<int64_t> output_height{};
    Slot<int64_t> output_width{};
    Slot<int64_t> sampling_ratio{};
    Slot<float> spatial_scale{};
    static constexpr auto Fields() {
      return std::tuple(Field{"coordinate_transformation_mode",
                              &Attrs::coordinate_transformation_mode, RoiCoordinates::kHalfPixel},
                        Field{"mode", &Attrs::mode, RoiMode::kAvg},
                        Field{"output_height", &Attrs::output_height, int64_t{1}},
                        Field{"output_width", &Attrs::output_width, int64_t{1}},
                        Field{"sampling_ratio", &Attrs::sampling_ratio, int64_t{0}},
                        Field{"spatial_scale", &Attrs::spatial_scale, 1.0f});
    }
  };
  static bool Infer(InferContext& c);
};

// x is [N, C, H, W], rois [R, 5] of image, x1, y1, x2, y2.
struct MaxRoiPool {
  static constexpr OpInfo kInfo = {.name = "onnx.MaxRoiPool",
                                   .operands = {"x", "rois"},
                                   .onnx = "MaxRoiPool",
                                   .since = 22,
                                   .doc = "the largest number of each part of regions of images"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> pooled_shape{};
    Slot<float> spatial_scale{};
    static constexpr auto Fields() {
      return std::tuple(Field{"pooled_shape", &Attrs::pooled_shape},
                        Field{"spatial_scale", &Attrs::spatial_scale, 1.0f});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadSamplingOps(IrContext& context);

}  // namespace weft::ir::ops

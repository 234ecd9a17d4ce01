#include "kernels/resampling.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ir/builder.h"

namespace weft::kernels {
namespace {

namespace ops = ir::ops;
using ops::CoordinateMode;
using Attrs = ops::Resize::Attrs<ir::Plain>;

constexpr double kMaxStretch = 1e6;  // elements on one side of an antialiasing filter

struct Axis {
  double in, out;                  // sizes
  double crop_start, crop_end;     // as fractions of x
  std::optional<double> factor{};  // out / in unless scales or the aspect ratio say it

  double scale() const { return factor.value_or(out / in); }
};

// A distance in y as one in x. Where halves decide which neighbour is the nearest, a given scale divides
// in f32, as in other runtimes: 3.5 / 0.7 is 5 there, and more in f64.
double Shrunk(const Attrs& attrs, const Axis& a, double distance) {
  if (!a.factor) return distance * a.in / a.out;
  if (attrs.mode != ops::ResizeMode::kNearest) return distance / *a.factor;
  return static_cast<float>(distance) / static_cast<float>(*a.factor);
}

// Where element i of the result lies among the elements of x.
double Coordinate(const Attrs& attrs, const Axis& a, double i) {
  switch (attrs.coordinate_transformation_mode) {
    case CoordinateMode::kPytorchHalfPixel:
      if (a.out <= 1) return 0;
      [[fallthrough]];
    case CoordinateMode::kHalfPixel:
      return Shrunk(attrs, a, i + 0.5) - 0.5;
    case CoordinateMode::kAlignCorners:
      return a.out > 1 ? i * (a.in - 1) / (a.out - 1) : 0;
    case CoordinateMode::kAsymmetric:
      return Shrunk(attrs, a, i);
    case CoordinateMode::kTfHalfPixelForNn:
      // ONNX Runtime leaves an axis alone whose size stays: the shift is for those that are resized.
      if (a.in == a.out && a.scale() == 1) return i;
      return Shrunk(attrs, a, i + 0.5);
    case CoordinateMode::kHalfPixelSymmetric:  // the middle of y is exactly that of x
      return a.in / 2 - 0.5 + Shrunk(attrs, a, i + 0.5 - a.out / 2);
    case CoordinateMode::kTfCropAndResize:
      break;
  }
  if (a.out <= 1) return (a.crop_start + a.crop_end) / 2 * (a.in - 1);
  return (a.crop_start + i * (a.crop_end - a.crop_start) / (a.out - 1)) * (a.in - 1);
}

double Nearest(ops::NearestMode mode, double at) {
  switch (mode) {
    case ops::NearestMode::kRoundPreferFloor:
      return std::ceil(at - 0.5);
    case ops::NearestMode::kRoundPreferCeil:
      return std::floor(at + 0.5);
    case ops::NearestMode::kFloor:
      return std::floor(at);
    case ops::NearestMode::kCeil:
      break;
  }
  return std::ceil(at);
}

// Keys' cubic convolution kernel, https://ieeexplore.ieee.org/document/1163711 equation (4).
double CubicWeight(double a, double distance) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// No taps stand for extrapolation_value.
std::vector<Tap> TapsAt(const Attrs& attrs, const Axis& axis, double at) {
  const double last = axis.in - 1;
  if (attrs.coordinate_transformation_mode == CoordinateMode::kTfCropAndResize &&
      (at < 0 || at > last))
    return {};
  if (attrs.mode == ops::ResizeMode::kNearest)
    return {{static_cast<int64_t>(std::clamp(Nearest(attrs.nearest_mode, at), 0.0, last)), 1.0}};
  const bool cubic = attrs.mode == ops::ResizeMode::kCubic;
  // How much the filter is stretched where elements are left out.
  const double stretch = attrs.antialias != 0 ? std::max(1 / axis.scale(), 1.0) : 1;
  const double reach = (cubic ? 2 : 1) * stretch;
  std::vector<Tap> taps;
  double sum = 0;
  for (double index = std::floor(at - reach) + 1; index < at + reach; ++index) {
    const double distance = (at - index) / stretch;
    const double weight =
        cubic ? CubicWeight(attrs.cubic_coeff_a, distance) : 1 - std::fabs(distance);
    const bool outside = index < 0 || index > last;
    // A weight of 0 is left out: it would make a NaN of an infinity.
    if (weight == 0 || (attrs.exclude_outside != 0 && outside)) continue;
    taps.push_back({static_cast<int64_t>(std::clamp(index, 0.0, last)), weight});
    sum += weight;
  }
  for (Tap& tap : taps)
    if (attrs.exclude_outside != 0 || stretch > 1) tap.weight /= sum;
  return taps;
}

// What each dimension of x goes through; those that are not resized stay as they are.
absl::StatusOr<std::vector<Axis>> FindAxes(const Attrs& attrs, std::span<const int64_t> in,
                                           std::span<const int64_t> out,
                                           const ResizeOperands& operands) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < in.size(); ++i)
    axes.push_back({.in = static_cast<double>(in[i]),
                    .out = static_cast<double>(out[i]),
                    .crop_start = 0,
                    .crop_end = 1});
  WEFT_ASSIGN_OR_RETURN(const ir::Ints resized, ResizedAxes(attrs, in.size()));
  const auto& [roi, scales, sizes] = operands;
  const auto fits = [&](const std::vector<double>& list, size_t count) {
    return list.empty() || list.size() == count;
  };
  if (!fits(scales, resized.size()) || !fits(sizes, resized.size()) ||
      !fits(roi, 2 * resized.size()))
    return ir::InvalidArgument("scales, sizes or roi do not have one entry per axis");
  std::vector<double> ratios;
  for (size_t i = 0; i < sizes.size(); ++i)
    ratios.push_back(sizes[i] / axes[static_cast<size_t>(resized[i])].in);
  const auto factor = ops::AspectRatioFactor(attrs.keep_aspect_ratio_policy, ratios);
  for (size_t i = 0; i < resized.size(); ++i) {
    Axis& axis = axes[static_cast<size_t>(resized[i])];
    if (!scales.empty()) axis.factor = scales[i];
    if (factor) axis.factor = *factor;
    if (roi.empty()) continue;
    axis.crop_start = roi[i];
    axis.crop_end = roi[resized.size() + i];
  }
  return axes;
}

}  // namespace

absl::StatusOr<ir::Ints> ResizedAxes(const Attrs& attrs, size_t rank) {
  ir::Ints axes = attrs.axes.value_or(ir::Ints());
  for (int64_t& axis : axes) {
    const int64_t given = axis;
    axis = ir::NormalAxis(given, rank);
    if (axis < 0 || axis >= static_cast<int64_t>(rank))
      return ir::InvalidArgument("axes has " + std::to_string(given));
  }
  for (size_t i = 0; !attrs.axes && i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

absl::StatusOr<std::vector<AxisTaps>> ResizeTaps(const Attrs& attrs, std::span<const int64_t> in,
                                                 std::span<const int64_t> out,
                                                 const ResizeOperands& operands) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<Axis> axes, FindAxes(attrs, in, out, operands));
  std::vector<AxisTaps> taps;
  for (const Axis& axis : axes) {
    const std::string name = "axis " + std::to_string(taps.size());
    if (attrs.antialias != 0 && !(1 / axis.scale() < kMaxStretch))
      return ir::InvalidArgument(name + " is made too small for a filter");
    taps.emplace_back();
    for (double at = 0; at < axis.out; ++at) {
      const double coordinate = Coordinate(attrs, axis, at);
      if (!std::isfinite(coordinate))
        return ir::InvalidArgument(name + " has no usable scale or roi");
      taps.back().push_back(TapsAt(attrs, axis, coordinate));
    }
  }
  return taps;
}

}  // namespace weft::kernels

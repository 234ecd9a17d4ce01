// Resampling. Interpolation is separable: one axis after another.
#include <algorithm>
#include <optional>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using ops::CoordinateMode;
using Attrs = AttrsOf<ops::Resize>;

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;  // operands

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

// An element of x and its part in an element of the result.
struct Tap {
  int64_t index;
  double weight;
};

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

constexpr double kMaxStretch = 1e6;  // elements on one side of an antialiasing filter

// The dimensions of x that scales, sizes and roi are about.
ir::Ints ResizedAxes(const Attrs& attrs, size_t rank) {
  ir::Ints axes = attrs.axes.value_or(ir::Ints());
  for (int64_t& axis : axes) axis = ir::NormalAxis(axis, rank);
  for (size_t i = 0; !attrs.axes && i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

using AxisTaps = std::vector<std::vector<Tap>>;  // of each element along an axis of the result

// What each dimension of x goes through; those that are not resized stay as they are.
std::vector<Axis> FindAxes(const Attrs& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  std::vector<Axis> axes;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const auto in = static_cast<double>(x.dims[i]), out = static_cast<double>(y.dims[i]);
    axes.push_back({.in = in, .out = out, .crop_start = 0, .crop_end = 1});
  }
  const auto read = [&](size_t i) {
    return args.HasInput(i) ? ReadDoubles(args.inputs[i]) : std::vector<double>();
  };
  const std::vector<double> roi = read(kRoi), scales = read(kScales), sizes = read(kSizes);
  const ir::Ints resized = ResizedAxes(attrs, x.dims.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < sizes.size(); ++i) ratios.push_back(sizes[i] / axes[resized[i]].in);
  const auto factor = ops::AspectRatioFactor(attrs.keep_aspect_ratio_policy, ratios);
  for (size_t i = 0; i < resized.size(); ++i) {
    Axis& axis = axes[resized[i]];
    if (!scales.empty()) axis.factor = scales[i];
    if (factor) axis.factor = *factor;
    if (roi.size() != 2 * resized.size()) continue;
    axis.crop_start = roi[i];
    axis.crop_end = roi[resized.size() + i];
  }
  return axes;
}

absl::StatusOr<std::vector<AxisTaps>> FindTaps(const Attrs& attrs, const KernelArgs& args) {
  std::vector<AxisTaps> taps;
  for (const Axis& axis : FindAxes(attrs, args)) {
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

// Nearest neighbours are copied: exact in every element type.
void CopyNearest(const Attrs& attrs, const std::vector<AxisTaps>& taps, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  std::byte fill[16] = {};
  if (attrs.coordinate_transformation_mode == CoordinateMode::kTfCropAndResize)
    WriteDoubles({attrs.extrapolation_value}, {y.dtype, {}, fill});
  CopyMapped(args.inputs[0], y, fill, [&](int axis, int64_t at) {
    const std::vector<Tap>& tap = taps[axis][at];
    return tap.empty() ? -1 : tap[0].index;
  });
}

std::vector<double> Interpolate(const std::vector<double>& x, const AxisView& view,
                                const AxisTaps& taps, double fallback) {
  std::vector<double> y;
  y.reserve(static_cast<size_t>(view.outer * view.inner) * taps.size());
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const std::vector<Tap>& element : taps) {
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        double sum = element.empty() ? fallback : 0;
        for (const Tap& tap : element)
          sum += tap.weight * x[(outer * view.extent + tap.index) * view.inner + inner];
        y.push_back(sum);
      }
    }
  }
  return y;
}

absl::Status Resize(const Attrs& attrs, const KernelArgs& args) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<AxisTaps> taps, FindTaps(attrs, args));
  if (attrs.mode == ops::ResizeMode::kNearest) {
    CopyNearest(attrs, taps, args);
    return absl::OkStatus();
  }
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  ir::Shape dims(args.inputs[0].dims.begin(), args.inputs[0].dims.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    values = Interpolate(values, AxisView(dims, static_cast<int64_t>(i)), taps[i],
                         attrs.extrapolation_value);
    dims[i] = args.outputs[0].dims[i];
  }
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}

// Ok when operand i is absent, empty or `count` floats.
absl::Status CheckFloats(const KernelContext& context, size_t i, size_t count) {
  if (!context.HasInput(i) || context.input_type(i).NumElements() == 0) return absl::OkStatus();
  if (!ir::IsFloat(context.input_type(i).dtype()) ||
      context.input_type(i).NumElements() != static_cast<int64_t>(count))
    return context.InvalidArgument("operand " + std::to_string(i) + " must be " +
                                   std::to_string(count) + " floats");
  return absl::OkStatus();
}
absl::Status CheckResize(const KernelContext& context) {
  const Attrs attrs = context.attrs_of<ops::Resize>();
  const ir::DataType dtype = context.input_type(0).dtype();
  const size_t rank = context.dims(0).size(), resized = ResizedAxes(attrs, rank).size();
  for (int64_t axis : ResizedAxes(attrs, rank))
    if (axis < 0 || axis >= static_cast<int64_t>(rank))
      return context.InvalidArgument("axes has " + std::to_string(axis));
  if (context.result_dims(0).size() != rank || context.result_type(0).dtype() != dtype)
    return context.InvalidArgument("the result has another rank or element type than x");
  if (context.input_type(0).NumElements() == 0 && context.result_type(0).NumElements() != 0)
    return context.InvalidArgument("nothing to resample in a tensor without elements");
  WEFT_RETURN_IF_ERROR(CheckFloats(context, kRoi, 2 * resized));
  WEFT_RETURN_IF_ERROR(CheckFloats(context, kScales, resized));
  if (context.HasInput(kSizes) && context.input_type(kSizes).NumElements() != 0 &&
      context.input_type(kSizes).NumElements() != static_cast<int64_t>(resized))
    return context.InvalidArgument("sizes does not have one entry per axis");
  const bool is_number = VisitNumber(dtype, [](auto) {});
  if (attrs.mode != ops::ResizeMode::kNearest && !ir::IsFloat(dtype))
    return context.Unsupported("interpolation between elements that are no floats");
  if (attrs.coordinate_transformation_mode == CoordinateMode::kTfCropAndResize && !is_number)
    return context.Unsupported("extrapolation of elements that are no numbers");
  return absl::OkStatus();
}
const RegisterReference<ops::Resize> kResize(&Resize, &CheckResize);

}  // namespace
}  // namespace weft::kernels::reference

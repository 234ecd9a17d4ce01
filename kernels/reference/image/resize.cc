// Resampling.
#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"
#include "kernels/resampling.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using ops::CoordinateMode;
using Attrs = AttrsOf<ops::Resize>;

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;  // operands

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

// Integers between which there is a whole number get it, though sums of weights in double may be a little less.
void SettleWholeNumbers(std::vector<double>* values) {
  constexpr double kNear = 1e-12;  // of their size
  for (double& value : *values) {
    const double whole = std::nearbyint(value);
    if (std::fabs(value - whole) <= kNear * std::fabs(whole)) value = whole;
  }
}

absl::Status Resize(const Attrs& attrs, const KernelArgs& args) {
  const auto read = [&](size_t i) {
    return args.HasInput(i) ? ReadDoubles(args.inputs[i]) : std::vector<double>();
  };
  WEFT_ASSIGN_OR_RETURN(
      const std::vector<AxisTaps> taps,
      ResizeTaps(attrs, args.inputs[0].dims, args.outputs[0].dims,
                 {.roi = read(kRoi), .scales = read(kScales), .sizes = read(kSizes)}));
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
  // The fractions of what becomes an integer are dropped, as by ONNX Runtime and ONNX's own reference.
  if (!ir::IsFloat(args.outputs[0].dtype)) SettleWholeNumbers(&values);
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}

// Linear interpolation: other filters leave the range of an integer type, and implementations differ in how they round.
// 64-bit integers would lose digits in double.
bool InterpolatesIntegers(const Attrs& attrs, ir::DataType dtype) {
  return attrs.mode == ops::ResizeMode::kLinear && attrs.antialias == 0 &&
         ir::ElementSize(dtype) <= 4 && VisitInteger(dtype, [](auto) {});
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
  const size_t rank = context.dims(0).size();
  const absl::StatusOr<ir::Ints> axes = ResizedAxes(attrs, rank);
  if (!axes.ok()) return context.InvalidArgument(std::string(axes.status().message()));
  const size_t resized = axes->size();
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
  if (attrs.mode != ops::ResizeMode::kNearest && !ir::IsFloat(dtype) &&
      !InterpolatesIntegers(attrs, dtype))
    return context.Unsupported("this interpolation between elements that are no floats");
  if (attrs.coordinate_transformation_mode == CoordinateMode::kTfCropAndResize && !is_number)
    return context.Unsupported("extrapolation of elements that are no numbers");
  return absl::OkStatus();
}
const RegisterReference<ops::Resize> kResize(&Resize, &CheckResize);

}  // namespace
}  // namespace weft::kernels::reference

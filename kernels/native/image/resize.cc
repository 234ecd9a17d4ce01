// onnx.Resize: one axis after another, those that become shorter first.
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/nn/image.h"
#include "kernels/native/image/resample.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

constexpr size_t kScales = 2, kSizes = 3;  // operands

// Numbers known before run time; nothing where they are not.
std::optional<std::vector<double>> NumbersOf(const KernelContext& context, size_t i) {
  if (!context.HasInput(i) || context.input_type(i).NumElements() == 0)
    return std::vector<double>();
  const ir::Attribute dense = context.constant(i);
  if (!dense || dense.bytes().empty()) return std::nullopt;
  std::vector<double> numbers;
  for (int64_t k = 0; k < dense.dense_type().NumElements(); ++k)
    numbers.push_back(ir::DenseElement(dense, k));
  return numbers;
}

// Along one axis of [outer, in, inner].
struct Step {
  simd::EvenTaps taps;
  int64_t outer, in, inner;
  // What its result takes of scratch memory, with elements of `size` bytes.
  size_t Bytes(int64_t size) const {
    const auto bytes = static_cast<size_t>(outer * taps.extent * inner * size);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
};

bool IsIdentity(const AxisTaps& taps, int64_t size) {
  if (static_cast<int64_t>(taps.size()) != size) return false;
  for (size_t i = 0; i < taps.size(); ++i)
    if (taps[i].size() != 1 || taps[i][0].index != static_cast<int64_t>(i) ||
        taps[i][0].weight != 1)
      return false;
  return true;
}

// In an order in which tensors between are small: what shrinks first, from the first axis on, and then what
// grows, from the last one on, as sums over rows are faster than sums of single elements.
std::vector<Step> StepsOf(const std::vector<AxisTaps>& taps, std::span<const int64_t> in) {
  std::vector<size_t> axes, growing;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (IsIdentity(taps[axis], in[axis])) continue;
    (static_cast<int64_t>(taps[axis].size()) < in[axis] ? axes : growing).push_back(axis);
  }
  axes.insert(axes.end(), growing.rbegin(), growing.rend());
  ir::Shape dims(in.begin(), in.end());
  std::vector<Step> steps;
  for (const size_t axis : axes) {
    const AxisView view(dims, static_cast<int64_t>(axis));
    steps.push_back({simd::EvenTaps(taps[axis]), view.outer, view.extent, view.inner});
    dims[axis] = steps.back().taps.extent;
  }
  return steps;
}

std::optional<simd::ExactType> ExactTypeOf(ir::DataType dtype) {
  switch (dtype) {
    case ir::DataType::kU8:
      return simd::ExactType::kU8;
    case ir::DataType::kI8:
      return simd::ExactType::kI8;
    case ir::DataType::kF64:
      return simd::ExactType::kDouble;
    default:
      return std::nullopt;
  }
}

// Ok where such elements are copied, or interpolated.
absl::Status CheckElements(const KernelContext& context, const ops::Resize::Attrs<ir::Plain>& attrs,
                           ir::DataType dtype) {
  const size_t size = ir::ElementSize(dtype);
  if (attrs.mode == ops::ResizeMode::kNearest)
    return size == 1 || size == 2 || size == 4 || size == 8
               ? absl::OkStatus()
               : context.Unsupported("elements of such a size");
  if (dtype == ir::DataType::kF32 || dtype == ir::DataType::kF64) return absl::OkStatus();
  if (!ExactTypeOf(dtype))
    return context.Unsupported("other elements than f32, f64 and integers of 8 bits");
  return attrs.mode == ops::ResizeMode::kLinear && attrs.antialias == 0
             ? absl::OkStatus()
             : context.Unsupported("integers, but by linear interpolation");
}

Made MakeResize(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Resize>();
  const bool is_nearest = attrs.mode == ops::ResizeMode::kNearest;
  const ir::Type x = context.input_type(0), y = context.result_type(0);
  const auto size = static_cast<int64_t>(ir::ElementSize(x.dtype()));
  if (x.dtype() != y.dtype() || x.rank() != y.rank())
    return context.Unsupported("a result of another rank or element type");
  if (x.NumElements() == 0 || y.NumElements() == 0)
    return context.Unsupported("tensors without elements");
  for (const int64_t dim : context.dims(0))
    if (dim > std::numeric_limits<int32_t>::max()) return context.Unsupported("so long an axis");
  WEFT_RETURN_IF_ERROR(CheckElements(context, attrs, x.dtype()));
  if (attrs.coordinate_transformation_mode == ops::CoordinateMode::kTfCropAndResize)
    return context.Unsupported("crops");
  const auto scales = NumbersOf(context, kScales);
  auto sizes = NumbersOf(context, kSizes);
  // They are those of the result.
  if (!sizes && attrs.keep_aspect_ratio_policy == ops::AspectRatioPolicy::kStretch) sizes.emplace();
  if (!scales || !sizes) return context.Unsupported("scales or sizes that are not known");
  WEFT_ASSIGN_OR_RETURN(const std::vector<AxisTaps> taps,
                        ResizeTaps(attrs, context.dims(0), context.result_dims(0),
                                   {.roi = {}, .scales = *scales, .sizes = *sizes}));
  std::vector<Step> steps = StepsOf(taps, context.dims(0));
  const auto exact = ExactTypeOf(x.dtype());
  const int64_t size_between = !is_nearest && exact ? sizeof(double) : size;
  size_t scratch = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].taps.taps > simd::EvenTaps::kMost)
      return context.Unsupported("filters of so many elements");
    if (i + 1 < steps.size()) scratch += steps[i].Bytes(size_between);
  }
  const size_t bytes = static_cast<size_t>(y.NumBytes());
  return MakeNative(
      is_nearest ? "nearest neighbours" : "interpolation", {.scratch_bytes = scratch},
      [=, steps =
              std::make_shared<const std::vector<Step>>(std::move(steps))](const KernelArgs& args) {
        const std::byte* from = args.input<std::byte>(0);
        std::byte* scratch_left = args.scratch;
        if (steps->empty()) std::memcpy(args.output<std::byte>(0), from, bytes);
        for (const Step& step : *steps) {
          const bool is_first = &step == &steps->front(), is_last = &step == &steps->back();
          std::byte* to = is_last ? args.output<std::byte>(0) : scratch_left;
          if (is_nearest)
            simd::CopyAlongAxis(step.taps, from, step.outer, step.in, step.inner, size, to,
                                *args.pool);
          else if (exact)
            simd::ResampleExactly(step.taps, is_first ? *exact : simd::ExactType::kDouble, from,
                                  step.outer, step.in, step.inner,
                                  is_last ? *exact : simd::ExactType::kDouble, to, *args.pool);
          else
            simd::Resample(step.taps, reinterpret_cast<const float*>(from), step.outer, step.in,
                           step.inner, reinterpret_cast<float*>(to), *args.pool);
          from = to;
          if (!is_last) scratch_left += step.Bytes(size_between);
        }
      });
}
const RegisterKernel<ops::Resize> kResize("native", &MakeResize);

}  // namespace
}  // namespace weft::kernels::native

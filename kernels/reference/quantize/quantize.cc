// Linear quantisation, per tensor or per entry of one axis.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx.h"
#include "ir/element/low_precision.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Scale and zero point of element i of x.
class Parameters {
 public:
  Parameters(const KernelArgs& args, int64_t axis, int64_t block)
      : scales_(ReadDoubles(args.inputs[1])),
        zero_points_(args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>(1)) {
    if (scales_.size() == 1 && zero_points_.size() == 1) return;
    const AxisView view(args.inputs[0].dims, axis);
    extent_ = static_cast<size_t>(view.extent);
    inner_ = static_cast<size_t>(view.inner);
    block_ = static_cast<size_t>(block);
  }
  double scale(size_t i) const { return Entry(scales_, i); }
  double zero_point(size_t i) const { return Entry(zero_points_, i); }

 private:
  double Entry(const std::vector<double>& values, size_t i) const {
    if (values.size() == 1) return values[0];
    const size_t at = i / inner_ % extent_;
    if (block_ == 0) return values[at];
    const size_t blocks = (extent_ + block_ - 1) / block_;
    return values[(i / inner_ / extent_ * blocks + at / block_) * inner_ + i % inner_];
  }
  std::vector<double> scales_, zero_points_;
  size_t extent_ = 1, inner_ = 1, block_ = 0;
};

// x as a number of that float type; as it is for other types.
double RoundTo(ir::DataType dtype, double x) {
  VisitFloat(dtype, [&](auto tag) { x = static_cast<double>(decltype(tag)(x)); });
  return x;
}

// A quotient becomes an integer before the zero point is added, but a float is rounded at last.
template <class Quotient>
void QuantizeToLowPrecision(const TensorView& y, bool saturate, const Parameters& parameters,
                            const Quotient& quotient) {
  const bool to_integer = ir::IsLowPrecisionInteger(y.dtype);
  const std::span<uint8_t> out = y.values<uint8_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    const double q = to_integer ? std::nearbyint(quotient(i)) : quotient(i);
    out[i] = ir::ToLowPrecision(y.dtype, q + parameters.zero_point(i), {.saturate = saturate});
  }
}

absl::Status QuantizeLinear(const AttrsOf<ops::QuantizeLinear>& attrs, const KernelArgs& args) {
  const std::vector<double> x = ReadDoubles(args.inputs[0]);
  const Parameters parameters(args, attrs.axis, attrs.block_size);
  const ir::DataType precision =
      attrs.precision != 0 ? static_cast<ir::DataType>(attrs.precision) : args.inputs[1].dtype;
  const auto quotient = [&](size_t i) { return RoundTo(precision, x[i] / parameters.scale(i)); };
  if (ir::IsLowPrecision(args.outputs[0].dtype))
    QuantizeToLowPrecision(args.outputs[0], attrs.saturate != 0, parameters, quotient);
  VisitInteger(args.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    for (size_t i = 0; i < x.size(); ++i) {
      // nearbyint rounds halves to even. fmin takes the number where the other is a NaN.
      const double q = std::nearbyint(quotient(i)) + parameters.zero_point(i);
      args.output<T>(0)[i] = static_cast<T>(std::fmax(kLowest, std::fmin(q, kMax)));
    }
  });
  return absl::OkStatus();
}

absl::Status DequantizeLinear(const AttrsOf<ops::DequantizeLinear>& attrs, const KernelArgs& args) {
  std::vector<double> x = ReadDoubles(args.inputs[0]);
  const Parameters parameters(args, attrs.axis, attrs.block_size);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] - parameters.zero_point(i)) * parameters.scale(i);
  WriteDoubles(x, args.outputs[0]);
  return absl::OkStatus();
}

// Fails unless operand i has a number per entry of the axis, or per block of entries.
absl::Status CheckParameter(const KernelContext& context, size_t i, int64_t axis, int64_t block) {
  const std::span<const int64_t> x = context.dims(0), dims = context.dims(i);
  const auto rank = static_cast<int64_t>(x.size());
  const std::string operand = "operand " + std::to_string(i);
  axis = ir::NormalAxis(axis, x.size());
  if (block == 0) {
    if (dims.size() == 1 && axis >= 0 && axis < rank && dims[0] == x[axis]) return absl::OkStatus();
    return context.InvalidArgument(operand +
                                   " is neither a scalar nor one number per entry of the axis");
  }
  bool fits = block > 0 && axis >= 0 && axis < rank && dims.size() == x.size();
  for (int64_t d = 0; fits && d < rank; ++d)
    fits = dims[d] == (d == axis ? x[d] / block + (x[d] % block != 0) : x[d]);
  return fits ? absl::OkStatus()
              : context.InvalidArgument(operand + " does not have one number per block");
}

// `real` and `stored` are the types of the numbers and of what stands for them.
absl::Status CheckParameters(const KernelContext& context, int64_t axis, int64_t block,
                             ir::DataType real, ir::DataType stored) {
  for (size_t i : {1, 2}) {
    if (!context.HasInput(i) || context.input_type(i).NumElements() == 1) continue;
    WEFT_RETURN_IF_ERROR(CheckParameter(context, i, axis, block));
  }
  const ir::DataType scale = context.input_type(1).dtype();
  if ((!ir::IsLowPrecision(stored) && !VisitInteger(stored, [](auto) {})) ||
      !VisitNumber(real, [](auto) {}) ||
      (scale != ir::DataType::kF8E8M0 && !VisitNumber(scale, [](auto) {})) ||
      (context.HasInput(2) && context.input_type(2).dtype() != stored))
    return context.Unsupported("these element types");
  return absl::OkStatus();
}
absl::Status CheckQuantizeLinear(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::QuantizeLinear>();
  return CheckParameters(context, attrs.axis, attrs.block_size, context.input_type(0).dtype(),
                         context.result_type(0).dtype());
}
absl::Status CheckDequantizeLinear(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::DequantizeLinear>();
  return CheckParameters(context, attrs.axis, attrs.block_size, context.result_type(0).dtype(),
                         context.input_type(0).dtype());
}

// The whole range of u8 for the numbers of x and 0, in f32 as ONNX has it. NaN counts as 0.
absl::Status DynamicQuantizeLinear(const AttrsOf<ops::DynamicQuantizeLinear>&,
                                   const KernelArgs& args) {
  const std::span<float> x = args.inputs[0].values<float>();
  float lowest = 0, highest = 0;
  for (const float value : x) {
    lowest = std::fmin(lowest, value);
    highest = std::fmax(highest, value);
  }
  const float scale = highest == lowest ? 1.0f / 255 : (highest - lowest) / 255;
  const float zero = std::nearbyint(std::fmin(255.0f, std::fmax(0.0f, -lowest / scale)));
  for (size_t i = 0; i < x.size(); ++i) {
    const float q = std::nearbyint(x[i] / scale) + zero;
    args.output<uint8_t>(0)[i] = static_cast<uint8_t>(std::fmax(0.0f, std::fmin(q, 255.0f)));
  }
  *args.output<float>(1) = scale;
  *args.output<uint8_t>(2) = static_cast<uint8_t>(zero);
  return absl::OkStatus();
}
const RegisterReference<ops::DynamicQuantizeLinear> kDynamicQuantizeLinear(&DynamicQuantizeLinear,
                                                                           &CheckInferred);

const RegisterReference<ops::QuantizeLinear> kQuantizeLinear(&QuantizeLinear, &CheckQuantizeLinear);
const RegisterReference<ops::DequantizeLinear> kDequantizeLinear(&DequantizeLinear,
                                                                 &CheckDequantizeLinear);

}  // namespace
}  // namespace weft::kernels::reference

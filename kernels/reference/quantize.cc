// Linear quantisation, per tensor or per entry of one axis.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Scale and zero point of element i of x.
class Parameters {
 public:
  Parameters(const KernelArgs& args, int64_t axis)
      : scales_(ReadDoubles(args.inputs[1])),
        zero_points_(args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>(1)) {
    if (scales_.size() == 1 && zero_points_.size() == 1) return;
    const AxisView view(args.inputs[0].dims, axis);
    extent_ = static_cast<size_t>(view.extent);
    inner_ = static_cast<size_t>(view.inner);
  }
  double scale(size_t i) const { return Entry(scales_, i); }
  double zero_point(size_t i) const { return Entry(zero_points_, i); }

 private:
  double Entry(const std::vector<double>& values, size_t i) const {
    return values[values.size() == 1 ? 0 : i / inner_ % extent_];
  }
  std::vector<double> scales_, zero_points_;
  size_t extent_ = 1, inner_ = 1;
};

absl::Status QuantizeLinear(const AttrsOf<ops::QuantizeLinear>& attrs, const KernelArgs& args) {
  const std::vector<double> x = ReadDoubles(args.inputs[0]);
  const Parameters parameters(args, attrs.axis);
  VisitInteger(args.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    for (size_t i = 0; i < x.size(); ++i) {
      // nearbyint rounds halves to even. fmin takes the number where the other is a NaN.
      const double q = std::nearbyint(x[i] / parameters.scale(i)) + parameters.zero_point(i);
      args.output<T>(0)[i] = static_cast<T>(std::fmax(kLowest, std::fmin(q, kMax)));
    }
  });
  return absl::OkStatus();
}

absl::Status DequantizeLinear(const AttrsOf<ops::DequantizeLinear>& attrs, const KernelArgs& args) {
  std::vector<double> x = ReadDoubles(args.inputs[0]);
  const Parameters parameters(args, attrs.axis);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] - parameters.zero_point(i)) * parameters.scale(i);
  WriteDoubles(x, args.outputs[0]);
  return absl::OkStatus();
}

// `real` and `stored` are the types of the numbers and of what stands for them.
absl::Status CheckParameters(const KernelContext& context, int64_t axis, ir::DataType real,
                             ir::DataType stored) {
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  axis = ir::NormalAxis(axis, context.dims(0).size());
  for (size_t i : {1, 2}) {
    if (!context.HasInput(i) || context.input_type(i).NumElements() == 1) continue;
    if (context.dims(i).size() != 1 || axis < 0 || axis >= rank ||
        context.dims(i)[0] != context.dims(0)[axis])
      return context.InvalidArgument("operand " + std::to_string(i) +
                                     " is neither a scalar nor one number per entry of the axis");
  }
  if (!ir::IsInteger(stored) || (!ir::IsFloat(real) && !ir::IsInteger(real)) ||
      !ir::IsFloat(context.input_type(1).dtype()) ||
      (context.HasInput(2) && context.input_type(2).dtype() != stored))
    return context.Unsupported("these element types");
  return absl::OkStatus();
}
absl::Status CheckQuantizeLinear(const KernelContext& context) {
  return CheckParameters(context, context.attrs_of<ops::QuantizeLinear>().axis,
                         context.input_type(0).dtype(), context.result_type(0).dtype());
}
absl::Status CheckDequantizeLinear(const KernelContext& context) {
  return CheckParameters(context, context.attrs_of<ops::DequantizeLinear>().axis,
                         context.result_type(0).dtype(), context.input_type(0).dtype());
}

const RegisterReference<ops::QuantizeLinear> kQuantizeLinear(&QuantizeLinear, &CheckQuantizeLinear);
const RegisterReference<ops::DequantizeLinear> kDequantizeLinear(&DequantizeLinear,
                                                                 &CheckDequantizeLinear);

}  // namespace
}  // namespace weft::kernels::reference

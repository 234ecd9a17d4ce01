// Running sums and products.
#include "ir/dialects/onnx/math.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Integers wrap around. `f` is generic.
template <class F>
absl::Status Accumulate(const KernelArgs& args, bool exclusive, bool reverse, int start,
                        const F& f) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const int64_t axis = ReadInts(args.inputs[1]).front();
  const auto rank = static_cast<int64_t>(x.dims.size());
  if (axis < -rank || axis >= rank)
    return ir::InvalidArgument("axis " + std::to_string(axis) + " is out of range for rank " +
                               std::to_string(rank));
  const AxisView view(x.dims, axis);
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, uint64_t>;
    const std::span<T> in = x.values<T>(), out = y.values<T>();
    for (int64_t row = 0; row < view.rows(); ++row) {
      const int64_t first = view.RowStart(row);
      auto so_far = static_cast<Wide>(start);
      for (int64_t i = 0; i < view.extent; ++i) {
        const int64_t at = first + (reverse ? view.extent - 1 - i : i) * view.inner;
        const Wide with_this = f(so_far, static_cast<Wide>(in[at]));
        out[at] = T(exclusive ? so_far : with_this);
        so_far = with_this;
      }
    }
  });
  return absl::OkStatus();
}

absl::Status CumSum(const AttrsOf<ops::CumSum>& attrs, const KernelArgs& args) {
  return Accumulate(args, attrs.exclusive != 0, attrs.reverse != 0, 0,
                    [](auto sum, auto x) { return sum + x; });
}
absl::Status CumProd(const AttrsOf<ops::CumProd>& attrs, const KernelArgs& args) {
  return Accumulate(args, attrs.exclusive != 0, attrs.reverse != 0, 1,
                    [](auto product, auto x) { return product * x; });
}

absl::Status CheckCumulative(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (!VisitNumber(dtype, [](auto) {}) || context.result_type(0).dtype() != dtype)
    return context.Unsupported("these element types");
  const ir::Type axis = context.input_type(1);
  if (!VisitInteger(axis.dtype(), [](auto) {}) || axis.NumElements() != 1)
    return context.InvalidArgument("axis must be one integer");
  return absl::OkStatus();
}
const RegisterReference<ops::CumSum> kCumSum(&CumSum, &CheckCumulative);
const RegisterReference<ops::CumProd> kCumProd(&CumProd, &CheckCumulative);

}  // namespace
}  // namespace weft::kernels::reference

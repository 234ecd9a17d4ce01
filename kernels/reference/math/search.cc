// Where the largest or smallest element along an axis is.
#include "ir/dialects/onnx/search.h"

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// better(a, b): whether a is to be taken instead of b, which comes before it. Generic.
template <class O, class Better>
void Search(const AttrsOf<O>& attrs, const KernelArgs& args, const Better& better) {
  const AxisView view(args.inputs[0].dims, attrs.axis);
  VisitNumber(args.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    for (int64_t row = 0; row < view.rows(); ++row) {
      const T* x = args.input<T>(0) + view.RowStart(row);
      const auto value = [&](int64_t i) { return static_cast<Wide>(x[i * view.inner]); };
      int64_t best = 0;
      for (int64_t i = 1; i < view.extent; ++i) {
        const Wide a = value(i), b = value(best);
        const bool ties = a == b || (a != a && b != b);
        const bool wins = ties ? attrs.select_last_index != 0 : b == b && (a != a || better(a, b));
        if (wins) best = i;
      }
      args.output<int64_t>(0)[row] = best;
    }
  });
}

absl::Status ArgMax(const AttrsOf<ops::ArgMax>& attrs, const KernelArgs& args) {
  Search<ops::ArgMax>(attrs, args, [](auto a, auto b) { return a > b; });
  return absl::OkStatus();
}
absl::Status ArgMin(const AttrsOf<ops::ArgMin>& attrs, const KernelArgs& args) {
  Search<ops::ArgMin>(attrs, args, [](auto a, auto b) { return a < b; });
  return absl::OkStatus();
}

template <class O>
absl::Status CheckSearch(const KernelContext& context) {
  if (!VisitNumber(context.input_type(0).dtype(), [](auto) {}) ||
      context.result_type(0).dtype() != ir::DataType::kI64)
    return context.Unsupported("these element types");
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  const int64_t axis = context.attrs_of<O>().axis;
  if (axis < -rank || axis >= rank) return context.InvalidArgument("needs an axis of x");
  const AxisView view(context.dims(0), axis);
  if (context.result_type(0).NumElements() != view.rows())
    return context.InvalidArgument("the result has another shape than x without the axis");
  if (view.extent == 0 && view.rows() > 0)
    return context.InvalidArgument("there is no element along the axis");
  return absl::OkStatus();
}
const RegisterReference<ops::ArgMax> kArgMax(&ArgMax, &CheckSearch<ops::ArgMax>);
const RegisterReference<ops::ArgMin> kArgMin(&ArgMin, &CheckSearch<ops::ArgMin>);

}  // namespace
}  // namespace weft::kernels::reference

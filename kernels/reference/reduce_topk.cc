// The largest or smallest elements along an axis.
#include <algorithm>
#include <numeric>

#include "ir/dialects/ascend.h"
#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// A total order, NaN above all numbers.
template <class T>
bool Less(T a, T b) {
  return a < b || (a == a && b != b);
}

// Sorted, whatever attrs.sorted is: any order is right without it.
template <class T, class Index>
void TopKRows(const AttrsOf<ops::TopK>& attrs, const KernelArgs& args) {
  using Wide = std::conditional_t<kIsFloat<T>, double, T>;
  const AxisView in(args.inputs[0].dims, attrs.axis), out(args.outputs[0].dims, attrs.axis);
  const T* x = args.input<T>(0);
  std::vector<int64_t> order(static_cast<size_t>(in.extent));
  for (int64_t row = 0; row < in.outer * in.inner; ++row) {
    const int64_t from = row / in.inner * in.extent * in.inner + row % in.inner;
    const int64_t to = row / in.inner * out.extent * in.inner + row % in.inner;
    const auto value = [&](int64_t i) { return static_cast<Wide>(x[from + i * in.inner]); };
    std::iota(order.begin(), order.end(), int64_t{0});
    SortIndices(order, [&](int64_t a, int64_t b) {
      return attrs.largest != 0 ? Less(value(b), value(a)) : Less(value(a), value(b));
    });
    for (int64_t i = 0; i < out.extent; ++i) {
      args.output<T>(0)[to + i * in.inner] = x[from + order[i] * in.inner];
      args.output<Index>(1)[to + i * in.inner] = static_cast<Index>(order[i]);
    }
  }
}

// O counts in Index.
template <class O, class Index>
absl::Status TopK(const AttrsOf<O>& attrs, const KernelArgs& args) {
  const int64_t k = *args.input<Index>(1);
  if (k != AxisView(args.outputs[0].dims, attrs.axis).extent)
    return ir::InvalidArgument("k is " + std::to_string(k) + ", which is not what the result has");
  VisitNumber(args.inputs[0].dtype, [&](auto tag) { TopKRows<decltype(tag), Index>(attrs, args); });
  return absl::OkStatus();
}
template <class O, ir::DataType kIndex>
absl::Status CheckTopK(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (!VisitNumber(dtype, [](auto) {}) || context.result_type(0).dtype() != dtype ||
      context.result_type(1).dtype() != kIndex || context.input_type(1).dtype() != kIndex)
    return context.Unsupported("these element types");
  ir::Shape expected(context.dims(0).begin(), context.dims(0).end());
  const int64_t axis = ir::NormalAxis(context.attrs_of<O>().axis, expected.size());
  if (axis < 0 || axis >= static_cast<int64_t>(expected.size()) ||
      context.input_type(1).NumElements() != 1)
    return context.InvalidArgument("needs an axis of x and one k");
  const std::span<const int64_t> values = context.result_dims(0), indices = context.result_dims(1);
  if (values.size() == expected.size()) expected[axis] = std::min(values[axis], expected[axis]);
  if (!std::equal(values.begin(), values.end(), expected.begin(), expected.end()) ||
      !std::equal(indices.begin(), indices.end(), expected.begin(), expected.end()))
    return context.InvalidArgument("the results are no part of x");
  return absl::OkStatus();
}
const RegisterReference<ops::TopK> kTopK(&TopK<ops::TopK, int64_t>,
                                         &CheckTopK<ops::TopK, ir::DataType::kI64>);
// Not by its body: the size of a result would be lost there where k is not known before run time.
const RegisterReference<ir::ascend::TopK> kAscendTopK(
    &TopK<ir::ascend::TopK, int32_t>, &CheckTopK<ir::ascend::TopK, ir::DataType::kI32>);

}  // namespace
}  // namespace weft::kernels::reference

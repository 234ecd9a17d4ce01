// Ops that find elements by value or place them by index.
#include <algorithm>
#include <numeric>

#include "ir/dialects/ascend.h"
#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// --- top-k ------------------------------------------------------------------------

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
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
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
  const int64_t axis = NormalAxis(context.attrs_of<O>().axis, expected.size());
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

// --- scatter ------------------------------------------------------------------------

// The element of data at which each slice of updates begins.
absl::StatusOr<std::vector<int64_t>> SliceStarts(const TensorView& data,
                                                 const TensorView& indices) {
  const std::vector<int64_t> entries = ReadInts(indices);
  const auto named = static_cast<size_t>(indices.dims.back());
  const Dims strides = RowMajorStrides(data.dims);
  std::vector<int64_t> starts(
      static_cast<size_t>(CountElements(indices.dims.first(indices.dims.size() - 1))));
  for (size_t i = 0; i < starts.size() * named; ++i) {
    const size_t axis = i % named;
    const int64_t dim = data.dims[axis];
    if (entries[i] < -dim || entries[i] >= dim)
      return ir::InvalidArgument("index " + std::to_string(entries[i]) +
                                 " is out of range for an axis of size " + std::to_string(dim));
    starts[i / named] +=
        (entries[i] < 0 ? entries[i] + dim : entries[i]) * strides[static_cast<int>(axis)];
  }
  return starts;
}

// Several updates of one element are applied in order, each rounded; integers wrap.
template <class T>
T Applied(ops::ScatterReduction reduction, T old, T update) {
  using Wide = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  using Signed = std::conditional_t<kIsFloat<T>, double, int64_t>;
  const auto a = static_cast<Wide>(static_cast<Signed>(old));
  const auto b = static_cast<Wide>(static_cast<Signed>(update));
  return reduction == ops::ScatterReduction::kAdd ? T(a + b) : T(a * b);
}

absl::Status ScatterND(const AttrsOf<ops::ScatterND>& attrs, const KernelArgs& args) {
  const TensorView &data = args.inputs[0], &updates = args.inputs[2], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, SliceStarts(data, args.inputs[1]));
  std::memcpy(y.data, data.data, y.NumBytes());
  const int64_t slice = starts.empty() ? 0 : updates.NumElements() / int64_t(starts.size());
  if (attrs.reduction == ops::ScatterReduction::kNone) {
    const auto size = static_cast<int64_t>(ir::ElementSize(y.dtype));
    for (size_t i = 0; i < starts.size(); ++i)
      std::memcpy(y.data + starts[i] * size, updates.data + int64_t(i) * slice * size,
                  static_cast<size_t>(slice * size));
    return absl::OkStatus();
  }
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* update = args.input<T>(2);
    for (const int64_t start : starts)
      for (int64_t i = 0; i < slice; ++i, ++update) {
        T& element = args.output<T>(0)[start + i];
        element = Applied(attrs.reduction, element, *update);
      }
  });
  return absl::OkStatus();
}
absl::Status CheckScatterND(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  if (context.input_type(0) != context.result_type(0) || context.input_type(2).dtype() != dtype ||
      context.input_type(1).dtype() != ir::DataType::kI64)
    return context.Unsupported("these types");
  if (context.attrs_of<ops::ScatterND>().reduction != ops::ScatterReduction::kNone &&
      !VisitNumber(dtype, [](auto) {}))
    return context.Unsupported("a reduction of elements that are no numbers");
  const std::span<const int64_t> data = context.dims(0), indices = context.dims(1);
  if (indices.empty() || indices.back() > static_cast<int64_t>(data.size()))
    return context.InvalidArgument("indices name more dimensions than data has");
  ir::Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + indices.back(), data.end());
  const std::span<const int64_t> updates = context.dims(2);
  if (!std::equal(updates.begin(), updates.end(), expected.begin(), expected.end()))
    return context.InvalidArgument("updates is " + ir::ToString(updates) + " but must be " +
                                   ir::ToString(expected));
  return absl::OkStatus();
}
const RegisterReference<ops::ScatterND> kScatterND(&ScatterND, &CheckScatterND);

}  // namespace
}  // namespace weft::kernels::reference

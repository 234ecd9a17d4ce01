// Placing elements by index.
#include <algorithm>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

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

// Placing elements by index.
#include <algorithm>

#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/indexing.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// y as data, which it may lie over.
void StartFrom(const TensorView& data, const TensorView& y) {
  if (y.data != data.data) std::memcpy(y.data, data.data, y.NumBytes());
}

// What changes some elements of operand 0 may do so where they are.
template <class O, Function<O> kFunction>
class ScatterKernel final : public Kernel {
 public:
  explicit ScatterKernel(AttrsOf<O> attrs) : attrs_(std::move(attrs)) {}
  std::string_view name() const override { return "reference"; }
  absl::Status Run(const KernelArgs& args) override {
    absl::Status status = kFunction(attrs_, args);
    return status.ok() ? status : ir::Annotate(status, O::kInfo.name);
  }
  bool MayOverwrite(size_t operand) const override { return operand == 0; }

 private:
  const AttrsOf<O> attrs_;
};

template <class O, Function<O> kFunction, Check kCheck>
absl::StatusOr<std::unique_ptr<Kernel>> MakeScatter(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(kCheck(context));
  return std::make_unique<ScatterKernel<O, kFunction>>(context.attrs_of<O>());
}

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

// The larger or smaller; NaN when one is NaN.
template <class T>
T Extreme(bool max, T old, T update) {
  using Wide = std::conditional_t<kIsFloat<T>, double, T>;
  const auto a = static_cast<Wide>(old), b = static_cast<Wide>(update);
  if (a != a) return old;
  return b != b || (max ? a < b : b < a) ? update : old;
}

// Several updates of one element are applied in order, each rounded; integers wrap.
template <class T>
T Applied(ops::ScatterReduction reduction, T old, T update) {
  if (reduction == ops::ScatterReduction::kMax || reduction == ops::ScatterReduction::kMin)
    return Extreme(reduction == ops::ScatterReduction::kMax, old, update);
  using Wide = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  using Signed = std::conditional_t<kIsFloat<T>, double, int64_t>;
  const auto a = static_cast<Wide>(static_cast<Signed>(old));
  const auto b = static_cast<Wide>(static_cast<Signed>(update));
  return reduction == ops::ScatterReduction::kAdd ? T(a + b) : T(a * b);
}

absl::Status ScatterND(const AttrsOf<ops::ScatterND>& attrs, const KernelArgs& args) {
  const TensorView &data = args.inputs[0], &updates = args.inputs[2], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, SliceStarts(data, args.inputs[1]));
  StartFrom(data, y);
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
const RegisterKernel<ops::ScatterND> kScatterND(
    "reference", &MakeScatter<ops::ScatterND, &ScatterND, &CheckScatterND>);

// --- along an axis -------------------------------------------------------------------------

// The element of `data` for each element of `indices`, whose other dimensions are no larger.
absl::StatusOr<std::vector<int64_t>> ElementPlaces(const TensorView& data,
                                                   const TensorView& indices, int64_t axis) {
  axis = ir::NormalAxis(axis, data.dims.size());
  const int64_t dim = data.dims[static_cast<size_t>(axis)];
  Dims strides = RowMajorStrides(data.dims);
  const int64_t along = strides[static_cast<int>(axis)];
  strides[static_cast<int>(axis)] = 0;
  std::vector<int64_t> places = ReadInts(indices);
  size_t i = 0;
  for (Odometer<1> at(indices.dims, {strides}); !at.done(); at.Next(), ++i) {
    const int64_t index = places[i];
    if (index < -dim || index >= dim)
      return ir::InvalidArgument("index " + std::to_string(index) +
                                 " is out of range for an axis of size " + std::to_string(dim));
    places[i] = at.offset[0] + (index < 0 ? index + dim : index) * along;
  }
  return places;
}

// Operands 0 (data) and 1 (indices).
absl::Status CheckPlaces(const KernelContext& context, int64_t axis) {
  const std::span<const int64_t> data = context.dims(0), indices = context.dims(1);
  const ir::DataType index = context.input_type(1).dtype();
  if (index != ir::DataType::kI32 && index != ir::DataType::kI64)
    return context.Unsupported("indices of type " + std::string(ir::DataTypeName(index)));
  axis = ir::NormalAxis(axis, data.size());
  bool fits =
      data.size() == indices.size() && axis >= 0 && axis < static_cast<int64_t>(data.size());
  for (size_t i = 0; fits && i < data.size(); ++i)
    fits = static_cast<int64_t>(i) == axis || indices[i] <= data[i];
  if (fits) return absl::OkStatus();
  return context.InvalidArgument("indices " + ir::ToString(indices) + " do not fit data " +
                                 ir::ToString(data));
}

absl::Status GatherElements(const AttrsOf<ops::GatherElements>& attrs, const KernelArgs& args) {
  const TensorView &data = args.inputs[0], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> places,
                        ElementPlaces(data, args.inputs[1], attrs.axis));
  const size_t size = ir::ElementSize(y.dtype);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(y.data + i * size, data.data + static_cast<size_t>(places[i]) * size, size);
  return absl::OkStatus();
}
absl::Status CheckGatherElements(const KernelContext& context) {
  if (context.input_type(0).dtype() != context.result_type(0).dtype() ||
      context.input_type(1).shape() != context.result_type(0).shape())
    return context.InvalidArgument(
        "the result is not of the type of data and the shape of indices");
  return CheckPlaces(context, context.attrs_of<ops::GatherElements>().axis);
}
const RegisterReference<ops::GatherElements> kGatherElements(&GatherElements, &CheckGatherElements);

absl::Status ScatterElements(const AttrsOf<ops::ScatterElements>& attrs, const KernelArgs& args) {
  const TensorView &data = args.inputs[0], &updates = args.inputs[2], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> places,
                        ElementPlaces(data, args.inputs[1], attrs.axis));
  StartFrom(data, y);
  if (attrs.reduction == ops::ScatterReduction::kNone) {
    const size_t size = ir::ElementSize(y.dtype);
    for (size_t i = 0; i < places.size(); ++i)
      std::memcpy(y.data + static_cast<size_t>(places[i]) * size, updates.data + i * size, size);
    return absl::OkStatus();
  }
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* update = args.input<T>(2);
    for (const int64_t place : places) {
      T& element = args.output<T>(0)[place];
      element = Applied(attrs.reduction, element, *update++);
    }
  });
  return absl::OkStatus();
}
absl::Status CheckScatterElements(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ScatterElements>();
  const ir::DataType dtype = context.result_type(0).dtype();
  if (context.input_type(0) != context.result_type(0) || context.input_type(2).dtype() != dtype ||
      context.input_type(2).shape() != context.input_type(1).shape())
    return context.InvalidArgument("data, updates and the result do not fit each other");
  if (attrs.reduction != ops::ScatterReduction::kNone && !VisitNumber(dtype, [](auto) {}))
    return context.Unsupported("a reduction of elements that are no numbers");
  return CheckPlaces(context, attrs.axis);
}
const RegisterKernel<ops::ScatterElements> kScatterElements(
    "reference", &MakeScatter<ops::ScatterElements, &ScatterElements, &CheckScatterElements>);

// --- into a cache ----------------------------------------------------------------------------

absl::Status TensorScatter(const AttrsOf<ops::TensorScatter>& attrs, const KernelArgs& args) {
  const TensorView &past = args.inputs[0], &update = args.inputs[1], &y = args.outputs[0];
  const AxisView cache(past.dims, attrs.axis), rows(update.dims, attrs.axis);
  const int64_t batch = past.dims[0];
  const std::vector<int64_t> starts = args.HasInput(2)
                                          ? ReadInts(args.inputs[2])
                                          : std::vector<int64_t>(static_cast<size_t>(batch));
  for (const int64_t start : starts) {
    const bool fits =
        attrs.mode == ops::CacheMode::kCircular || start <= cache.extent - rows.extent;
    if (start < 0 || !fits)
      return ir::InvalidArgument("write index " + std::to_string(start) + " is out of range for " +
                                 std::to_string(rows.extent) + " rows in a cache of " +
                                 std::to_string(cache.extent));
  }
  StartFrom(past, y);
  const int64_t bytes = cache.inner * static_cast<int64_t>(ir::ElementSize(y.dtype));
  const int64_t per_batch = batch == 0 ? 0 : cache.outer / batch;
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    const int64_t start = starts[static_cast<size_t>(outer / per_batch)];
    for (int64_t i = 0; i < rows.extent; ++i) {
      const int64_t row = (start % cache.extent + i) % cache.extent;
      std::memcpy(y.data + (outer * cache.extent + row) * bytes,
                  update.data + (outer * rows.extent + i) * bytes, static_cast<size_t>(bytes));
    }
  }
  return absl::OkStatus();
}
absl::Status CheckTensorScatter(const KernelContext& context) {
  const ir::Type past = context.input_type(0), update = context.input_type(1);
  const int64_t axis =
      ir::NormalAxis(context.attrs_of<ops::TensorScatter>().axis, past.dims().size());
  if (past != context.result_type(0) || update.dtype() != past.dtype() ||
      update.rank() != past.rank() || axis <= 0 || axis >= static_cast<int64_t>(past.rank()))
    return context.InvalidArgument("the cache, the update and the result do not fit each other");
  for (size_t i = 0; i < past.rank(); ++i) {
    const bool fits = static_cast<int64_t>(i) == axis ? update.dims()[i] <= past.dims()[i]
                                                      : update.dims()[i] == past.dims()[i];
    if (!fits)
      return context.InvalidArgument("update " + ir::ToString(update.dims()) +
                                     " does not fit the cache " + ir::ToString(past.dims()));
  }
  if (context.HasInput(2) && (context.input_type(2).dtype() != ir::DataType::kI64 ||
                              context.input_type(2).NumElements() != past.dims()[0]))
    return context.InvalidArgument("write_indices must be one i64 number per batch");
  return absl::OkStatus();
}
const RegisterKernel<ops::TensorScatter> kTensorScatter(
    "reference", &MakeScatter<ops::TensorScatter, &TensorScatter, &CheckTensorScatter>);

}  // namespace
}  // namespace weft::kernels::reference

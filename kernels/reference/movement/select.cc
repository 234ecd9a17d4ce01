// Ops whose results are as long as the values of their operands say.
#include <algorithm>
#include <numeric>

#include "ir/dialects/onnx/indexing.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// The slices of x along an axis, in that order.
absl::StatusOr<Tensor> TakeSlices(const TensorView& x, const AxisView& view, ir::Shape dims,
                                  const std::vector<int64_t>& slices) {
  WEFT_ASSIGN_OR_RETURN(Tensor y, CreateDynamic(x.dtype, std::move(dims)));
  const int64_t bytes = view.inner * static_cast<int64_t>(ir::ElementSize(x.dtype));
  std::byte* to = y.view().data;
  for (int64_t outer = 0; outer < view.outer; ++outer)
    for (const int64_t slice : slices)
      to = std::copy_n(x.data + (outer * view.extent + slice) * bytes, bytes, to);
  return y;
}

// Without an axis x is seen as a vector.
AxisView SlicesOf(const TensorView& x, const std::optional<int64_t>& axis) {
  if (axis) return {x.dims, *axis};
  const int64_t count[] = {x.NumElements()};
  return {count, 0};
}
ir::Shape DimsOfSlices(const TensorView& x, const std::optional<int64_t>& axis, size_t count) {
  ir::Shape dims(x.dims.begin(), x.dims.end());
  if (!axis) dims = {0};
  dims[axis ? static_cast<size_t>(ir::NormalAxis(*axis, dims.size())) : 0] =
      static_cast<int64_t>(count);
  return dims;
}

absl::Status CheckAxis(const KernelContext& context, const std::optional<int64_t>& axis) {
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  if (axis && (*axis < -rank || *axis >= rank))
    return context.InvalidArgument("axis " + std::to_string(*axis) + " is out of range for rank " +
                                   std::to_string(rank));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> IntTensor(const std::vector<int64_t>& values) {
  WEFT_ASSIGN_OR_RETURN(Tensor y,
                        CreateDynamic(ir::DataType::kI64, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), y.values<int64_t>().begin());
  return y;
}

// --- where a condition holds --------------------------------------------------------------------

absl::StatusOr<std::vector<Tensor>> Compress(const AttrsOf<ops::Compress>& attrs,
                                             const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const std::vector<int64_t> condition = ReadInts(args.inputs[1]);
  const AxisView view = SlicesOf(x, attrs.axis);
  std::vector<int64_t> slices;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] == 0) continue;
    if (static_cast<int64_t>(i) >= view.extent)
      return ir::InvalidArgument("the condition selects slice " + std::to_string(i) + " of " +
                                 std::to_string(view.extent));
    slices.push_back(static_cast<int64_t>(i));
  }
  std::vector<Tensor> results(1);
  WEFT_ASSIGN_OR_RETURN(results[0],
                        TakeSlices(x, view, DimsOfSlices(x, attrs.axis, slices.size()), slices));
  return results;
}
absl::Status CheckCompress(const KernelContext& context) {
  if (context.input_type(1).dtype() != ir::DataType::kBool)
    return context.Unsupported("a condition that is not bool");
  return CheckAxis(context, context.attrs_of<ops::Compress>().axis);
}
const RegisterSizing<ops::Compress> kCompress(&Compress, &CheckCompress);

absl::StatusOr<std::vector<Tensor>> NonZero(const AttrsOf<ops::NonZero>&, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  std::vector<int64_t> places;
  const auto find = [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> values = x.values<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (kIsFloat<T>) {
        if (static_cast<double>(values[i]) != 0) places.push_back(static_cast<int64_t>(i));
      } else {
        if (values[i] != 0) places.push_back(static_cast<int64_t>(i));
      }
    }
  };
  if (x.dtype == ir::DataType::kBool) find(uint8_t());
  VisitNumber(x.dtype, find);
  const size_t rank = x.dims.size(), count = places.size();
  std::vector<Tensor> results(1);
  WEFT_ASSIGN_OR_RETURN(
      results[0],
      CreateDynamic(ir::DataType::kI64, {static_cast<int64_t>(rank), static_cast<int64_t>(count)}));
  const std::span<int64_t> y = results[0].values<int64_t>();
  for (size_t i = 0; i < count; ++i) {
    int64_t rest = places[i];
    for (size_t axis = rank; axis-- > 0; rest /= x.dims[axis])
      y[axis * count + i] = rest % x.dims[axis];
  }
  return results;
}
absl::Status CheckNumbersOrBool(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (dtype != ir::DataType::kBool && !VisitNumber(dtype, [](auto) {}))
    return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  return absl::OkStatus();
}
const RegisterSizing<ops::NonZero> kNonZero(&NonZero, &CheckNumbersOrBool);

// --- distinct slices ------------------------------------------------------------------------------

// Orders slices by their elements. NaN is above all numbers and equal to itself.
template <class T>
int CompareSlices(const T* x, const AxisView& view, int64_t a, int64_t b) {
  using Wide = std::conditional_t<kIsFloat<T>, double, T>;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const int64_t row = outer * view.extent;
      const auto l = static_cast<Wide>(x[(row + a) * view.inner + inner]);
      const auto r = static_cast<Wide>(x[(row + b) * view.inner + inner]);
      if (l < r || (l == l && r != r)) return -1;
      if (r < l || (r == r && l != l)) return 1;
    }
  }
  return 0;
}

struct Groups {
  std::vector<int64_t> first, inverse, counts;
};

// Groups in ascending order of their slices; first is the smallest index of each.
template <class T>
Groups FindGroups(const T* x, const AxisView& view) {
  std::vector<int64_t> order(static_cast<size_t>(view.extent));
  std::iota(order.begin(), order.end(), int64_t{0});
  SortIndices(order, [&](int64_t a, int64_t b) { return CompareSlices(x, view, a, b) < 0; });
  Groups groups;
  groups.inverse.resize(order.size());
  for (const int64_t slice : order) {
    if (groups.first.empty() || CompareSlices(x, view, groups.first.back(), slice) != 0) {
      groups.first.push_back(slice);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(slice)] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

Groups InOrderOfOccurrence(const Groups& groups) {
  std::vector<int64_t> order(groups.first.size()), rank(order.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return groups.first[a] < groups.first[b]; });
  Groups result;
  for (size_t i = 0; i < order.size(); ++i) {
    result.first.push_back(groups.first[order[i]]);
    result.counts.push_back(groups.counts[order[i]]);
    rank[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  for (const int64_t group : groups.inverse)
    result.inverse.push_back(rank[static_cast<size_t>(group)]);
  return result;
}

absl::StatusOr<std::vector<Tensor>> Unique(const AttrsOf<ops::Unique>& attrs,
                                           const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const AxisView view = SlicesOf(x, attrs.axis);
  Groups groups;
  const auto find = [&](auto tag) {
    using T = decltype(tag);
    groups = FindGroups(reinterpret_cast<const T*>(x.data), view);
  };
  if (x.dtype == ir::DataType::kBool) find(uint8_t());
  VisitNumber(x.dtype, find);
  if (attrs.sorted == 0) groups = InOrderOfOccurrence(groups);
  std::vector<Tensor> results(4);
  WEFT_ASSIGN_OR_RETURN(
      results[0],
      TakeSlices(x, view, DimsOfSlices(x, attrs.axis, groups.first.size()), groups.first));
  WEFT_ASSIGN_OR_RETURN(results[1], IntTensor(groups.first));
  WEFT_ASSIGN_OR_RETURN(results[2], IntTensor(groups.inverse));
  WEFT_ASSIGN_OR_RETURN(results[3], IntTensor(groups.counts));
  return results;
}
absl::Status CheckUnique(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckAxis(context, context.attrs_of<ops::Unique>().axis));
  return CheckNumbersOrBool(context);
}
const RegisterSizing<ops::Unique> kUnique(&Unique, &CheckUnique);

}  // namespace
}  // namespace weft::kernels::reference

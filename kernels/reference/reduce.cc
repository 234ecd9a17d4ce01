// Reductions over some axes.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Which dimensions are reduced. No axes: all of them.
std::vector<bool> Reduced(std::span<const int64_t> dims, const ir::Ints& axes) {
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const int64_t axis : axes) reduced[ir::NormalAxis(axis, dims.size())] = true;
  return reduced;
}

// Strides that send an index of x to its result: 0 along reduced axes.
Dims ResultStrides(std::span<const int64_t> dims, const ir::Ints& axes) {
  const std::vector<bool> reduced = Reduced(dims, axes);
  Dims strides(static_cast<int>(dims.size()), 0);
  int64_t stride = 1;
  for (int i = strides.size() - 1; i >= 0; --i) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

// result = f(result, x) over all x that belong to it, starting at `start`; then finish(result, n)
// with the number of x.
template <class Start, class F, class Finish>
void Reduce(const KernelArgs& args, const ir::Ints& axes, const Start& start, const F& f,
            const Finish& finish) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, int64_t>;
    const std::span<T> in = x.values<T>(), out = y.values<T>();
    std::vector<Wide> results(out.size(), start(Wide()));
    int64_t i = 0;
    for (Odometer<1> at(x.dims, {ResultStrides(x.dims, axes)}); !at.done(); at.Next()) {
      Wide& result = results[at.offset[0]];
      result = f(result, static_cast<Wide>(in[i++]));
    }
    const size_t count = out.empty() ? 0 : in.size() / out.size();
    for (size_t r = 0; r < out.size(); ++r) out[r] = T(finish(results[r], count));
  });
}

constexpr auto kZero = [](auto wide) { return wide; };
constexpr auto kAdd = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
};
constexpr auto kKeep = [](auto result, size_t) { return result; };

absl::Status ReduceMean(const AttrsOf<ops::ReduceMean>& attrs, const KernelArgs& args) {
  Reduce(args, attrs.axes.value_or(ir::Ints()), kZero, kAdd,
         [](auto sum, size_t n) { return n == 0 ? sum : sum / static_cast<decltype(sum)>(n); });
  return absl::OkStatus();
}

constexpr auto kLowest = [](auto wide) {
  using Wide = decltype(wide);
  if constexpr (std::is_integral_v<Wide>)
    return std::numeric_limits<Wide>::lowest();
  else
    return -std::numeric_limits<Wide>::infinity();
};
constexpr auto kHighest = [](auto wide) {
  using Wide = decltype(wide);
  if constexpr (std::is_integral_v<Wide>)
    return std::numeric_limits<Wide>::max();
  else
    return std::numeric_limits<Wide>::infinity();
};

absl::Status ReduceMax(const AttrsOf<ops::ReduceMax>& attrs, const KernelArgs& args) {
  Reduce(
      args, attrs.axes.value_or(ir::Ints()), kLowest,
      [](auto a, auto b) { return b > a || b != b ? b : a; }, kKeep);
  return absl::OkStatus();
}
absl::Status ReduceMin(const AttrsOf<ops::ReduceMin>& attrs, const KernelArgs& args) {
  Reduce(
      args, attrs.axes.value_or(ir::Ints()), kHighest,
      [](auto a, auto b) { return b < a || b != b ? b : a; }, kKeep);
  return absl::OkStatus();
}

// The axes exist, and the result has as many elements as the dimensions that remain.
absl::Status CheckAxes(std::span<const int64_t> dims, const ir::Ints& axes, int64_t results) {
  for (const int64_t axis : axes) {
    if (ir::NormalAxis(axis, dims.size()) < 0 ||
        ir::NormalAxis(axis, dims.size()) >= int64_t(dims.size()))
      return ir::InvalidArgument("axis " + std::to_string(axis) + " of a tensor of rank " +
                                 std::to_string(dims.size()));
  }
  const std::vector<bool> reduced = Reduced(dims, axes);
  int64_t remaining = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!reduced[i]) remaining *= dims[i];
  if (remaining == results) return absl::OkStatus();
  return ir::InvalidArgument("the axes leave " + std::to_string(remaining) +
                             " elements but the result has " + std::to_string(results));
}

// Its axes may be known at run time only.
absl::Status ReduceSum(const AttrsOf<ops::ReduceSum>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const ir::Ints axes = args.HasInput(1) ? ReadInts(args.inputs[1]) : ir::Ints();
  if (axes.empty() && attrs.noop_with_empty_axes != 0) {
    if (x.NumElements() != y.NumElements())
      return ir::InvalidArgument("there are no axes but the result is smaller than the operand");
    std::memcpy(y.data, x.data, y.NumBytes());
    return absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(CheckAxes(x.dims, axes, y.NumElements()));
  Reduce(args, axes, kZero, kAdd, kKeep);
  return absl::OkStatus();
}

absl::Status CheckTypes(const KernelContext& context) {
  if (context.input_type(0).dtype() != context.result_type(0).dtype() ||
      !VisitNumber(context.result_type(0).dtype(), [](auto) {}) ||
      context.result_type(0).dtype() == ir::DataType::kU64)
    return context.Unsupported("these element types");
  return absl::OkStatus();
}
template <class O>
absl::Status CheckReduce(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckTypes(context));
  const absl::Status status =
      CheckAxes(context.dims(0), context.attrs_of<O>().axes.value_or(ir::Ints()),
                context.result_type(0).NumElements());
  return status.ok() ? status : ir::Annotate(status, context.op().name());
}
absl::Status CheckReduceSum(const KernelContext& context) {
  if (context.HasInput(1) && context.input_type(1).dtype() != ir::DataType::kI64)
    return context.InvalidArgument("axes must be i64 numbers");
  return CheckTypes(context);
}

const RegisterReference<ops::ReduceMean> kReduceMean(&ReduceMean, &CheckReduce<ops::ReduceMean>);
const RegisterReference<ops::ReduceMax> kReduceMax(&ReduceMax, &CheckReduce<ops::ReduceMax>);
const RegisterReference<ops::ReduceMin> kReduceMin(&ReduceMin, &CheckReduce<ops::ReduceMin>);
const RegisterReference<ops::ReduceSum> kReduceSum(&ReduceSum, &CheckReduceSum);

}  // namespace
}  // namespace weft::kernels::reference

// Reductions over some axes.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Which dimensions are reduced. No axes: all of them, or none with noop_with_empty_axes.
std::vector<bool> Reduced(std::span<const int64_t> dims, const ir::Ints& axes, bool noop) {
  std::vector<bool> reduced(dims.size(), axes.empty() && !noop);
  for (const int64_t axis : axes) reduced[ir::NormalAxis(axis, dims.size())] = true;
  return reduced;
}

// Strides that send an index of x to its result: 0 along reduced axes.
Dims ResultStrides(std::span<const int64_t> dims, const std::vector<bool>& reduced) {
  Dims strides(static_cast<int>(dims.size()), 0);
  int64_t stride = 1;
  for (int i = strides.size() - 1; i >= 0; --i) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

// What a sum of T is taken in: rounding happens once, integers wrap.
template <class T>
using Wide = std::conditional_t<kIsFloat<T>, double,
                                std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

// Integers wrap as the hardware's do.
template <class W>
W Plus(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class W>
W Times(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// A reduction: the result of nothing, one more element, and what becomes of the result of n.
struct Sum {
  template <class T>
  static Wide<T> Start(T) {
    return 0;
  }
  template <class W>
  static W Add(W sum, W x) {
    return Plus(sum, x);
  }
  template <class W>
  static W Finish(W sum, size_t) {
    return sum;
  }
};
struct Mean : Sum {
  template <class W>
  static W Finish(W sum, size_t n) {
    return n == 0 ? sum : sum / static_cast<W>(n);
  }
};
struct Product : Sum {
  template <class T>
  static Wide<T> Start(T) {
    return 1;
  }
  template <class W>
  static W Add(W product, W x) {
    return Times(product, x);
  }
};
struct AbsoluteSum : Sum {
  template <class W>
  static W Add(W sum, W x) {
    return Plus(sum, x < 0 ? Times(x, static_cast<W>(-1)) : x);
  }
};
struct SquareSum : Sum {
  template <class W>
  static W Add(W sum, W x) {
    return Plus(sum, Times(x, x));
  }
};
struct Norm : SquareSum {
  template <class W>
  static W Finish(W sum, size_t) {
    return static_cast<W>(std::sqrt(sum));
  }
};
// The largest; the lowest number of the type of nothing. A NaN stays.
struct Largest : Sum {
  template <class T>
  static Wide<T> Start(T) {
    if constexpr (kIsFloat<T>)
      return -std::numeric_limits<double>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class W>
  static W Add(W a, W b) {
    return b > a || b != b ? b : a;
  }
};
struct Smallest : Sum {
  template <class T>
  static Wide<T> Start(T) {
    if constexpr (kIsFloat<T>)
      return std::numeric_limits<double>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class W>
  static W Add(W a, W b) {
    return b < a || b != b ? b : a;
  }
};

template <class T, class R>
void ReduceElements(const TensorView& x, const TensorView& y, const std::vector<bool>& reduced) {
  const std::span<T> in = x.values<T>(), out = y.values<T>();
  std::vector<Wide<T>> results(out.size(), R::Start(T()));
  int64_t i = 0;
  for (Odometer<1> at(x.dims, {ResultStrides(x.dims, reduced)}); !at.done(); at.Next()) {
    Wide<T>& result = results[at.offset[0]];
    result = R::Add(result, static_cast<Wide<T>>(in[i++]));
  }
  const size_t count = out.empty() ? 0 : in.size() / out.size();
  for (size_t r = 0; r < out.size(); ++r) out[r] = T(R::Finish(results[r], count));
}

// log of the sum of exp(x), or of the sum of x, in double whatever the element type. Exponentials are
// taken relative to the largest element, so that none overflows.
void ReduceLog(const TensorView& x, const TensorView& y, const std::vector<bool>& reduced,
               bool exponential) {
  const std::vector<double> in = ReadDoubles(x);
  const auto results = static_cast<size_t>(y.NumElements());
  const Dims strides = ResultStrides(x.dims, reduced);
  std::vector<double> largest(results, 0), sum(results, 0);
  if (exponential) {
    std::fill(largest.begin(), largest.end(), -std::numeric_limits<double>::infinity());
    int64_t i = 0;
    for (Odometer<1> at(x.dims, {strides}); !at.done(); at.Next(), ++i)
      largest[at.offset[0]] = Largest::Add(largest[at.offset[0]], in[i]);
    for (double& value : largest)
      if (std::isinf(value)) value = 0;
  }
  int64_t i = 0;
  for (Odometer<1> at(x.dims, {strides}); !at.done(); at.Next(), ++i)
    sum[at.offset[0]] += exponential ? std::exp(in[i] - largest[at.offset[0]]) : in[i];
  for (size_t r = 0; r < results; ++r) sum[r] = std::log(sum[r]) + largest[r];
  WriteDoubles(sum, y);
}

// --- axes -------------------------------------------------------------------------

// What Reduced() gives, when the axes exist and the result has as many elements as the dimensions
// that remain.
absl::StatusOr<std::vector<bool>> CheckedReduced(std::span<const int64_t> dims,
                                                 const ir::Ints& axes, bool noop, int64_t results) {
  for (const int64_t axis : axes) {
    if (ir::NormalAxis(axis, dims.size()) < 0 ||
        ir::NormalAxis(axis, dims.size()) >= int64_t(dims.size()))
      return ir::InvalidArgument("axis " + std::to_string(axis) + " of a tensor of rank " +
                                 std::to_string(dims.size()));
  }
  std::vector<bool> reduced = Reduced(dims, axes, noop);
  int64_t remaining = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!reduced[i]) remaining *= dims[i];
  if (remaining == results) return reduced;
  return ir::InvalidArgument("the axes leave " + std::to_string(remaining) +
                             " elements but the result has " + std::to_string(results));
}

// run(reduced) with the axes of the attribute or the operand. Where no axes means none, what comes
// before and after the reduction is still done: ReduceSumSquare gives squares.
template <class Run>
absl::Status WithAxes(const AttrsOf<ops::ReduceMean>& attrs, const KernelArgs& args,
                      const Run& run) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const ir::Ints axes =
      args.HasInput(1) ? ReadInts(args.inputs[1]) : attrs.axes.value_or(ir::Ints());
  WEFT_ASSIGN_OR_RETURN(
      const std::vector<bool> reduced,
      CheckedReduced(x.dims, axes, attrs.noop_with_empty_axes != 0, y.NumElements()));
  run(reduced);
  return absl::OkStatus();
}

// --- kernels ----------------------------------------------------------------------

template <class O, class R>
absl::Status Reduce(const AttrsOf<O>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  return WithAxes(attrs, args, [&](const std::vector<bool>& reduced) {
    if (x.dtype == ir::DataType::kBool) return ReduceElements<bool, R>(x, y, reduced);
    VisitNumber(x.dtype, [&](auto tag) { ReduceElements<decltype(tag), R>(x, y, reduced); });
  });
}
template <class O, bool kExponential>
absl::Status ReduceLogs(const AttrsOf<O>& attrs, const KernelArgs& args) {
  return WithAxes(attrs, args, [&](const std::vector<bool>& reduced) {
    ReduceLog(args.inputs[0], args.outputs[0], reduced, kExponential);
  });
}

template <class O>
absl::Status CheckReduce(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  const bool takes_bool = std::is_same_v<O, ops::ReduceMax> || std::is_same_v<O, ops::ReduceMin>;
  if (context.input_type(0).dtype() != dtype ||
      !(VisitNumber(dtype, [](auto) {}) || (takes_bool && dtype == ir::DataType::kBool)))
    return context.Unsupported("these element types");
  if (context.HasInput(1)) {  // checked when it is known
    const bool is_list = context.input_type(1).dtype() == ir::DataType::kI64;
    return is_list ? absl::OkStatus() : context.InvalidArgument("axes must be i64 numbers");
  }
  const auto attrs = context.attrs_of<O>();
  const ir::Ints axes = attrs.axes.value_or(ir::Ints());
  const absl::Status status = CheckedReduced(context.dims(0), axes, attrs.noop_with_empty_axes != 0,
                                             context.result_type(0).NumElements())
                                  .status();
  return status.ok() ? status : ir::Annotate(status, context.op().name());
}

template <class O, class R>
struct Register {
  const RegisterReference<O> kernel{&Reduce<O, R>, &CheckReduce<O>};
};
const Register<ops::ReduceMean, Mean> kReduceMean;
const Register<ops::ReduceMax, Largest> kReduceMax;
const Register<ops::ReduceMin, Smallest> kReduceMin;
const Register<ops::ReduceSum, Sum> kReduceSum;
const Register<ops::ReduceProd, Product> kReduceProd;
const Register<ops::ReduceL1, AbsoluteSum> kReduceL1;
const Register<ops::ReduceL2, Norm> kReduceL2;
const Register<ops::ReduceSumSquare, SquareSum> kReduceSumSquare;
const RegisterReference<ops::ReduceLogSum> kReduceLogSum(&ReduceLogs<ops::ReduceLogSum, false>,
                                                         &CheckReduce<ops::ReduceLogSum>);
const RegisterReference<ops::ReduceLogSumExp> kReduceLogSumExp(
    &ReduceLogs<ops::ReduceLogSumExp, true>, &CheckReduce<ops::ReduceLogSumExp>);

}  // namespace
}  // namespace weft::kernels::reference

#include "kernels/native/reduce.h"

#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/simd/elementwise/unary.h"

namespace weft::kernels::native {

namespace ops = ir::ops;
using simd::ReduceOp;

namespace {

// A reduction of the middle axis of [outer, extent, inner].
struct Step {
  ReduceOp op = ReduceOp::kSum;
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t results() const { return outer * inner; }
};

// What reduces `axes` one after the other, the last first. Axes that lie side by side are one (those of size 1 between
// do not matter).
std::vector<Step> StepsOf(ReduceOp op, std::span<const int64_t> dims, const ir::Ints& axes) {
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const int64_t axis : axes) reduced[ir::NormalAxis(axis, dims.size())] = true;
  std::vector<Step> steps;
  Step step = {.op = op};
  const auto finish = [&] {
    steps.push_back(step);
    step = {.op = JoinOf(op), .inner = step.inner};
  };
  bool open = false;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    if (open && !reduced[i]) {
      for (size_t k = 0; k <= i; ++k) step.outer *= dims[k];
      finish();
    }
    open = reduced[i];
    (open ? step.extent : step.inner) *= dims[i];
  }
  if (open || steps.empty()) finish();
  return steps;
}

template <class T>
void RunStep(const Step& step, const T* x, T* y, ThreadPool& pool) {
  if constexpr (std::is_same_v<T, float>)
    simd::Reduce(step.op, x, y, step.outer, step.extent, step.inner, pool);
  else
    simd::ReduceNumbers(step.op, x, y, step.outer, step.extent, step.inner, pool);
}

void TakeLogs(float* y, int64_t n, ThreadPool& pool) {
  simd::Unary(simd::UnaryOp::kLog, {}, y, y, n, pool);
}
template <class T>
void TakeLogs(T* /*y*/, int64_t /*n*/, ThreadPool& /*pool*/) {}  // of f32 alone

template <class T>
Made MakeSteps(const std::vector<Step>& steps, bool takes_log) {
  // What a step leaves lies in one half of the scratch memory while the next fills the other.
  const size_t half = steps.size() > 1 ? steps.front().results() : 0;
  const size_t halves = std::min<size_t>(steps.size() - 1, 2);
  return MakeNative("reduce", {.scratch_bytes = halves * half * sizeof(T)},
                    [steps, takes_log, half](const KernelArgs& args) {
                      const T* x = args.input<T>(0);
                      for (size_t i = 0; i < steps.size(); ++i) {
                        T* y = i + 1 == steps.size()
                                   ? args.output<T>(0)
                                   : reinterpret_cast<T*>(args.scratch) + i % 2 * half;
                        RunStep(steps[i], x, y, *args.pool);
                        x = y;
                      }
                      if (takes_log)
                        TakeLogs(args.output<T>(0), steps.back().results(), *args.pool);
                    });
}

Made MakeReduction(const KernelContext& context, ReduceOp op, const ir::Ints& axes,
                   bool takes_log) {
  const std::vector<Step> steps = StepsOf(op, context.dims(0), axes);
  const ir::DataType dtype = context.input_type(0).dtype();
  if (steps.back().results() != context.result_type(0).NumElements() ||
      context.result_type(0).dtype() != dtype)
    return context.InvalidArgument("the result has another size than the axes that remain");
  const bool is_float = dtype == ir::DataType::kF32;
  if ((takes_log || op == ReduceOp::kLogSumExp) && !is_float)
    return context.Unsupported("logarithms of others than f32");
  if (is_float && op == ReduceOp::kProduct && steps.size() > 1)
    return context.Unsupported("products over axes apart, whose parts may overflow");
  if (is_float) return MakeSteps<float>(steps, takes_log);
  if (dtype == ir::DataType::kF64) return MakeSteps<double>(steps, false);
  if (op == ReduceOp::kMean || op == ReduceOp::kNorm)
    return context.Unsupported("quotients and roots of integers");
  switch (dtype) {
    case ir::DataType::kBool:
      if (op != ReduceOp::kMax && op != ReduceOp::kMin) return context.Unsupported("sums of bool");
      [[fallthrough]];
    case ir::DataType::kU8:
      return MakeSteps<uint8_t>(steps, false);
    case ir::DataType::kI8:
      return MakeSteps<int8_t>(steps, false);
    case ir::DataType::kI16:
      return MakeSteps<int16_t>(steps, false);
    case ir::DataType::kU16:
      return MakeSteps<uint16_t>(steps, false);
    case ir::DataType::kI32:
      return MakeSteps<int32_t>(steps, false);
    case ir::DataType::kU32:
      return MakeSteps<uint32_t>(steps, false);
    case ir::DataType::kI64:
      return MakeSteps<int64_t>(steps, false);
    case ir::DataType::kU64:
      return MakeSteps<uint64_t>(steps, false);
    default:
      return context.Unsupported("these element types");
  }
}

}  // namespace

Made MakeReduction(const KernelContext& context, ReduceOp op, const ir::Ints& axes) {
  return MakeReduction(context, op, axes, false);
}

namespace {

// The axes where they are known when the kernel is made.
std::optional<ir::Ints> KnownAxes(const KernelContext& context,
                                  const std::optional<ir::Ints>& attribute) {
  if (!context.HasInput(1)) return attribute.value_or(ir::Ints());
  const ir::Attribute axes = context.constant(1);
  if (!axes || axes.dense_type().dtype() != ir::DataType::kI64) return std::nullopt;
  ir::Ints list(axes.num_bytes() / sizeof(int64_t));
  if (!list.empty()) std::memcpy(list.data(), axes.bytes().data(), axes.num_bytes());
  return list;
}

template <class O, ReduceOp kOp, bool kTakesLog = false>
Made MakeReduce(const KernelContext& context) {
  const auto attrs = context.attrs_of<O>();
  const std::optional<ir::Ints> axes = KnownAxes(context, attrs.axes);
  if (!axes) return context.Unsupported("axes that are not known before run time");
  if (axes->empty() && attrs.noop_with_empty_axes != 0)
    return context.Unsupported("a reduction of nothing");
  return MakeReduction(context, kOp, *axes, kTakesLog);
}

template <class O, ReduceOp kOp, bool kTakesLog = false>
struct Register {
  const RegisterKernel<O> kernel{"native", &MakeReduce<O, kOp, kTakesLog>};
};
const Register<ops::ReduceMean, ReduceOp::kMean> kReduceMean;
const Register<ops::ReduceMax, ReduceOp::kMax> kReduceMax;
const Register<ops::ReduceMin, ReduceOp::kMin> kReduceMin;
const Register<ops::ReduceSum, ReduceOp::kSum> kReduceSum;
const Register<ops::ReduceProd, ReduceOp::kProduct> kReduceProd;
const Register<ops::ReduceL1, ReduceOp::kAbsoluteSum> kReduceL1;
const Register<ops::ReduceL2, ReduceOp::kNorm> kReduceL2;
const Register<ops::ReduceSumSquare, ReduceOp::kSumSquare> kReduceSumSquare;
const Register<ops::ReduceLogSum, ReduceOp::kSum, true> kReduceLogSum;
const Register<ops::ReduceLogSumExp, ReduceOp::kLogSumExp> kReduceLogSumExp;

}  // namespace
}  // namespace weft::kernels::native

#include "kernels/native/reduce.h"

#include <cstring>
#include <optional>
#include <vector>

#include "ir/dialects/onnx.h"

namespace weft::kernels::native {

namespace ops = ir::ops;

namespace {

// The reduced axes as one, when they lie side by side (axes of size 1 between do not matter).
std::optional<AxisView> ReducedView(std::span<const int64_t> dims, const ir::Ints& axes) {
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const int64_t axis : axes) reduced[ir::NormalAxis(axis, dims.size())] = true;
  AxisView view(dims, dims.size(), dims.size());  // all in `outer`
  view.outer = 1;
  int part = 0;  // 0: before the reduced ones, 1: in them, 2: behind
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (reduced[i]) {
      if (part == 2) return std::nullopt;
      part = 1;
      view.extent *= dims[i];
    } else {
      if (part == 1) part = 2;
      (part == 0 ? view.outer : view.inner) *= dims[i];
    }
  }
  return view;
}

}  // namespace

Made MakeReduction(const KernelContext& context, simd::ReduceOp op, const ir::Ints& axes) {
  if (context.input_type(0).dtype() != ir::DataType::kF32) return context.Unsupported("only f32");
  const auto view = ReducedView(context.dims(0), axes);
  if (!view) return context.Unsupported("axes that do not lie side by side");
  if (view->outer * view->inner != context.result_type(0).NumElements())
    return context.InvalidArgument("the result has another size than the axes that remain");
  return MakeNative("reduce", {}, [op, view = *view](const KernelArgs& args) {
    simd::Reduce(op, args.input<float>(0), args.output<float>(0), view.outer, view.extent,
                 view.inner, *args.pool);
  });
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

template <class O, simd::ReduceOp kOp>
Made MakeReduce(const KernelContext& context) {
  const auto attrs = context.attrs_of<O>();
  const std::optional<ir::Ints> axes = KnownAxes(context, attrs.axes);
  if (!axes) return context.Unsupported("axes that are not known before run time");
  if (axes->empty() && attrs.noop_with_empty_axes != 0)
    return context.Unsupported("a reduction of nothing");
  return MakeReduction(context, kOp, *axes);
}
const RegisterKernel<ops::ReduceMean> kReduceMean(
    "native", &MakeReduce<ops::ReduceMean, simd::ReduceOp::kMean>);
const RegisterKernel<ops::ReduceMax> kReduceMax("native",
                                                &MakeReduce<ops::ReduceMax, simd::ReduceOp::kMax>);
const RegisterKernel<ops::ReduceMin> kReduceMin("native",
                                                &MakeReduce<ops::ReduceMin, simd::ReduceOp::kMin>);
const RegisterKernel<ops::ReduceSum> kReduceSum("native",
                                                &MakeReduce<ops::ReduceSum, simd::ReduceOp::kSum>);
const RegisterKernel<ops::ReduceSumSquare> kReduceSumSquare(
    "native", &MakeReduce<ops::ReduceSumSquare, simd::ReduceOp::kSumSquare>);

}  // namespace
}  // namespace weft::kernels::native

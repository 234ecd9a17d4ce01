#include "kernels/native/elementwise/variadic.h"

#include "ir/dialects/onnx/math.h"
#include "kernels/native/elementwise/elementwise.h"

namespace weft::kernels::native {

Made MakeVariadic(const KernelContext& context, simd::VariadicOp op) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const Dims shape(context.result_dims(0));
  std::vector<simd::VariadicOperand> operands;
  for (size_t i = 0; i < context.num_inputs(); ++i)
    operands.push_back({nullptr, BroadcastStrides(context.dims(i), shape)});
  NativeOptions options = {.may_overwrite = context.OperandsLikeResult()};
  options.spaced_rows.assign(operands.size(), kLongRows);
  return MakeNative("elementwise", options, [op, shape, operands](const KernelArgs& args) {
    std::vector<simd::VariadicOperand> now = operands;
    for (size_t i = 0; i < now.size(); ++i)
      now[i] = {args.input<float>(i), OperandStrides(args, i, operands[i].strides)};
    simd::Variadic(op, now, args.output<float>(0), shape, *args.pool);
  });
}

namespace {

Made MakeMean(const KernelContext& context) {
  return MakeVariadic(context, simd::VariadicOp::kMean);
}
const RegisterKernel<ir::ops::Mean> kMean("native", &MakeMean);

}  // namespace
}  // namespace weft::kernels::native

// Elementwise functions of one f32 tensor.
#include "kernels/cpu/unary.h"

#include <limits>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/cpu/activation.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

Made MakeUnary(const KernelContext& context, cpu::UnaryOp op, const cpu::UnaryParams& params) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("elementwise", {.may_overwrite = 1}, [op, params, n](const KernelArgs& args) {
    cpu::Unary(op, params, args.input<float>(0), args.output<float>(0), n, *args.pool);
  });
}

template <cpu::UnaryOp kOp>
Made MakePlain(const KernelContext& context) {
  return MakeUnary(context, kOp, {});
}

const RegisterKernel<ops::Abs> kAbs("native", &MakePlain<cpu::UnaryOp::kAbs>);
const RegisterKernel<ops::Neg> kNeg("native", &MakePlain<cpu::UnaryOp::kNeg>);
const RegisterKernel<ops::Relu> kRelu("native", &MakePlain<cpu::UnaryOp::kRelu>);
const RegisterKernel<ops::Sqrt> kSqrt("native", &MakePlain<cpu::UnaryOp::kSqrt>);
const RegisterKernel<ops::Exp> kExp("native", &MakePlain<cpu::UnaryOp::kExp>);
const RegisterKernel<ops::Log> kLog("native", &MakePlain<cpu::UnaryOp::kLog>);
const RegisterKernel<ops::Erf> kErf("native", &MakePlain<cpu::UnaryOp::kErf>);
const RegisterKernel<ops::Tanh> kTanh("native", &MakePlain<cpu::UnaryOp::kTanh>);
const RegisterKernel<ops::Sigmoid> kSigmoid("native", &MakePlain<cpu::UnaryOp::kSigmoid>);
const RegisterKernel<ops::HardSwish> kHardSwish("native", &MakePlain<cpu::UnaryOp::kHardSwish>);
const RegisterKernel<ops::Reciprocal> kReciprocal("native", &MakePlain<cpu::UnaryOp::kReciprocal>);

Made MakeHardSigmoid(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::HardSigmoid>();
  return MakeUnary(context, cpu::UnaryOp::kHardSigmoid, {attrs.alpha, attrs.beta});
}
const RegisterKernel<ops::HardSigmoid> kHardSigmoid("native", &MakeHardSigmoid);

Made MakeLeakyRelu(const KernelContext& context) {
  return MakeUnary(context, cpu::UnaryOp::kLeakyRelu,
                   {context.attrs_of<ops::LeakyRelu>().alpha, 0});
}
const RegisterKernel<ops::LeakyRelu> kLeakyRelu("native", &MakeLeakyRelu);

// Bounds that are not constant are read in every run.
Made MakeClip(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t n = context.result_type(0).NumElements();
  for (size_t i : {1, 2}) {
    if (context.HasInput(i) && context.input_type(i).NumElements() != 1)
      return context.InvalidArgument("min and max must be scalars");
  }
  return MakeNative("elementwise", {.may_overwrite = 1}, [n](const KernelArgs& args) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const cpu::UnaryParams bounds = {args.HasInput(1) ? *args.input<float>(1) : -kInfinity,
                                     args.HasInput(2) ? *args.input<float>(2) : kInfinity};
    cpu::Unary(cpu::UnaryOp::kClip, bounds, args.input<float>(0), args.output<float>(0), n,
               *args.pool);
  });
}
const RegisterKernel<ops::Clip> kClip("native", &MakeClip);

// gelu(x + bias), bias along the last axis.
Made MakeGelu(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (context.attrs_of<ir::fused::Gelu>().approximate != ir::fused::GeluApproximate::kNone)
    return context.Unsupported("the tanh approximation");
  const std::span<const int64_t> dims = context.result_dims(0);
  const int64_t n = context.result_type(0).NumElements();
  const int64_t columns = context.HasInput(1) ? context.input_type(1).NumElements() : n;
  if (context.HasInput(1) && (dims.empty() || context.dims(1).empty() || columns != dims.back() ||
                              context.dims(1).back() != columns))
    return context.Unsupported("a bias that is not along the last axis");
  return MakeNative("gelu", {.may_overwrite = 1}, [n, columns](const KernelArgs& args) {
    cpu::BiasActivation(args.input<float>(0), args.input<float>(1), {cpu::ActivationKind::kGelu},
                        args.output<float>(0), n / columns, columns, *args.pool);
  });
}
const RegisterKernel<ir::fused::Gelu> kGelu("native", &MakeGelu);

}  // namespace
}  // namespace weft::kernels::native

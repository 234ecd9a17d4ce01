// Elementwise functions of one f32 tensor.
#include "kernels/cpu/unary.h"

#include <limits>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/cpu/activation.h"
#include "kernels/cpu/rows.h"
#include "kernels/native/elementwise.h"

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
std::optional<cpu::RowFunction> UnaryRow(const RowContext& context,
                                         const cpu::UnaryParams& params) {
  if (!context.Has(1, ir::DataType::kF32, ir::DataType::kF32)) return std::nullopt;
  const auto run = [](const cpu::RowFunction& self, const cpu::RowArgs& args) {
    cpu::UnaryOnRow(kOp, self.params, static_cast<const float*>(args.in[0]),
                    static_cast<float*>(args.out), args.n);
  };
  return cpu::RowFunction{.run = run, .params = params, .cost = cpu::CostOf(kOp)};
}

template <cpu::UnaryOp kOp>
Made MakePlain(const KernelContext& context) {
  return MakeUnary(context, kOp, {});
}
template <cpu::UnaryOp kOp>
std::optional<cpu::RowFunction> PlainRow(const RowContext& context) {
  return UnaryRow<kOp>(context, {});
}

const RegisterElementwise<ops::Abs> kAbs(&MakePlain<cpu::UnaryOp::kAbs>,
                                         &PlainRow<cpu::UnaryOp::kAbs>);
const RegisterElementwise<ops::Neg> kNeg(&MakePlain<cpu::UnaryOp::kNeg>,
                                         &PlainRow<cpu::UnaryOp::kNeg>);
const RegisterElementwise<ops::Relu> kRelu(&MakePlain<cpu::UnaryOp::kRelu>,
                                           &PlainRow<cpu::UnaryOp::kRelu>);
const RegisterElementwise<ops::Sqrt> kSqrt(&MakePlain<cpu::UnaryOp::kSqrt>,
                                           &PlainRow<cpu::UnaryOp::kSqrt>);
const RegisterElementwise<ops::Exp> kExp(&MakePlain<cpu::UnaryOp::kExp>,
                                         &PlainRow<cpu::UnaryOp::kExp>);
const RegisterElementwise<ops::Log> kLog(&MakePlain<cpu::UnaryOp::kLog>,
                                         &PlainRow<cpu::UnaryOp::kLog>);
const RegisterElementwise<ops::Erf> kErf(&MakePlain<cpu::UnaryOp::kErf>,
                                         &PlainRow<cpu::UnaryOp::kErf>);
const RegisterElementwise<ops::Tanh> kTanh(&MakePlain<cpu::UnaryOp::kTanh>,
                                           &PlainRow<cpu::UnaryOp::kTanh>);
const RegisterElementwise<ops::Sigmoid> kSigmoid(&MakePlain<cpu::UnaryOp::kSigmoid>,
                                                 &PlainRow<cpu::UnaryOp::kSigmoid>);
const RegisterElementwise<ops::HardSwish> kHardSwish(&MakePlain<cpu::UnaryOp::kHardSwish>,
                                                     &PlainRow<cpu::UnaryOp::kHardSwish>);
const RegisterElementwise<ops::Reciprocal> kReciprocal(&MakePlain<cpu::UnaryOp::kReciprocal>,
                                                       &PlainRow<cpu::UnaryOp::kReciprocal>);

cpu::UnaryParams HardSigmoidParams(ir::Operation op) {
  const auto attrs = op.attrs_of<ops::HardSigmoid>();
  return {attrs.alpha, attrs.beta};
}
Made MakeHardSigmoid(const KernelContext& context) {
  return MakeUnary(context, cpu::UnaryOp::kHardSigmoid, HardSigmoidParams(context.op()));
}
std::optional<cpu::RowFunction> HardSigmoidRow(const RowContext& context) {
  return UnaryRow<cpu::UnaryOp::kHardSigmoid>(context, HardSigmoidParams(context.op));
}
const RegisterElementwise<ops::HardSigmoid> kHardSigmoid(&MakeHardSigmoid, &HardSigmoidRow);

cpu::UnaryParams LeakyReluParams(ir::Operation op) {
  return {op.attrs_of<ops::LeakyRelu>().alpha, 0};
}
Made MakeLeakyRelu(const KernelContext& context) {
  return MakeUnary(context, cpu::UnaryOp::kLeakyRelu, LeakyReluParams(context.op()));
}
std::optional<cpu::RowFunction> LeakyReluRow(const RowContext& context) {
  return UnaryRow<cpu::UnaryOp::kLeakyRelu>(context, LeakyReluParams(context.op));
}
const RegisterElementwise<ops::LeakyRelu> kLeakyRelu(&MakeLeakyRelu, &LeakyReluRow);

// Bounds that are not constant are read in every run.
cpu::UnaryParams ClipParams(const float* min, const float* max) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return {min != nullptr ? *min : -kInfinity, max != nullptr ? *max : kInfinity};
}
Made MakeClip(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t n = context.result_type(0).NumElements();
  for (size_t i : {1, 2}) {
    if (context.HasInput(i) && context.input_type(i).NumElements() != 1)
      return context.InvalidArgument("min and max must be scalars");
  }
  return MakeNative("elementwise", {.may_overwrite = 1}, [n](const KernelArgs& args) {
    cpu::Unary(cpu::UnaryOp::kClip, ClipParams(args.input<float>(1), args.input<float>(2)),
               args.input<float>(0), args.output<float>(0), n, *args.pool);
  });
}
std::optional<cpu::RowFunction> ClipRow(const RowContext& context) {
  if (context.result() != ir::DataType::kF32) return std::nullopt;
  const auto run = [](const cpu::RowFunction&, const cpu::RowArgs& args) {
    const cpu::UnaryParams bounds =
        ClipParams(static_cast<const float*>(args.in[1]), static_cast<const float*>(args.in[2]));
    cpu::UnaryOnRow(cpu::UnaryOp::kClip, bounds, static_cast<const float*>(args.in[0]),
                    static_cast<float*>(args.out), args.n);
  };
  return cpu::RowFunction{.run = run, .cost = cpu::CostOf(cpu::UnaryOp::kClip)};
}
const RegisterElementwise<ops::Clip> kClip(&MakeClip, &ClipRow);

// gelu(x + bias), bias along the last axis.
Made MakeGelu(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const bool exact =
      context.attrs_of<ir::fused::Gelu>().approximate == ir::fused::GeluApproximate::kNone;
  const cpu::Activation kind = {exact ? cpu::ActivationKind::kGelu
                                      : cpu::ActivationKind::kGeluTanh};
  const std::span<const int64_t> dims = context.result_dims(0);
  const int64_t n = context.result_type(0).NumElements();
  const int64_t columns = context.HasInput(1) ? context.input_type(1).NumElements() : n;
  if (context.HasInput(1) && (dims.empty() || context.dims(1).empty() || columns != dims.back() ||
                              context.dims(1).back() != columns))
    return context.Unsupported("a bias that is not along the last axis");
  return MakeNative("gelu", {.may_overwrite = 1}, [=](const KernelArgs& args) {
    cpu::BiasActivation(args.input<float>(0), args.input<float>(1), kind, args.output<float>(0),
                        n / columns, columns, *args.pool);
  });
}
const RegisterKernel<ir::fused::Gelu> kGelu("native", &MakeGelu);

}  // namespace
}  // namespace weft::kernels::native

// Elementwise functions of one f32 tensor.
#include "kernels/native/simd/elementwise/unary.h"

#include <limits>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "kernels/native/elementwise/elementwise.h"
#include "kernels/native/simd/activation.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/elementwise/rows.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

Made MakeUnary(const KernelContext& context, simd::UnaryOp op, const simd::UnaryParams& params) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("elementwise", {.may_overwrite = 1}, [op, params, n](const KernelArgs& args) {
    simd::Unary(op, params, args.input<float>(0), args.output<float>(0), n, *args.pool);
  });
}

template <simd::UnaryOp kOp>
std::optional<simd::RowFunction> UnaryRow(const RowContext& context,
                                          const simd::UnaryParams& params) {
  if (!context.Has(1, ir::DataType::kF32, ir::DataType::kF32)) return std::nullopt;
  const auto run = [](const simd::RowFunction& self, const simd::RowArgs& args) {
    simd::UnaryOnRow(kOp, self.params, static_cast<const float*>(args.in[0]),
                     static_cast<float*>(args.out), args.n);
  };
  return simd::RowFunction{.run = run, .params = params, .cost = simd::CostOf(kOp)};
}

template <simd::UnaryOp kOp>
Made MakePlain(const KernelContext& context) {
  return MakeUnary(context, kOp, {});
}
template <simd::UnaryOp kOp>
std::optional<simd::RowFunction> PlainRow(const RowContext& context) {
  return UnaryRow<kOp>(context, {});
}

const RegisterElementwise<ops::Abs> kAbs(&MakePlain<simd::UnaryOp::kAbs>,
                                         &PlainRow<simd::UnaryOp::kAbs>);
const RegisterElementwise<ops::Neg> kNeg(&MakePlain<simd::UnaryOp::kNeg>,
                                         &PlainRow<simd::UnaryOp::kNeg>);
const RegisterElementwise<ops::Relu> kRelu(&MakePlain<simd::UnaryOp::kRelu>,
                                           &PlainRow<simd::UnaryOp::kRelu>);
const RegisterElementwise<ops::Sqrt> kSqrt(&MakePlain<simd::UnaryOp::kSqrt>,
                                           &PlainRow<simd::UnaryOp::kSqrt>);
const RegisterElementwise<ops::Exp> kExp(&MakePlain<simd::UnaryOp::kExp>,
                                         &PlainRow<simd::UnaryOp::kExp>);
const RegisterElementwise<ops::Log> kLog(&MakePlain<simd::UnaryOp::kLog>,
                                         &PlainRow<simd::UnaryOp::kLog>);
const RegisterElementwise<ops::Erf> kErf(&MakePlain<simd::UnaryOp::kErf>,
                                         &PlainRow<simd::UnaryOp::kErf>);
const RegisterElementwise<ops::Tanh> kTanh(&MakePlain<simd::UnaryOp::kTanh>,
                                           &PlainRow<simd::UnaryOp::kTanh>);
const RegisterElementwise<ops::Sigmoid> kSigmoid(&MakePlain<simd::UnaryOp::kSigmoid>,
                                                 &PlainRow<simd::UnaryOp::kSigmoid>);
const RegisterElementwise<ops::Softplus> kSoftplus(&MakePlain<simd::UnaryOp::kSoftplus>,
                                                   &PlainRow<simd::UnaryOp::kSoftplus>);
const RegisterElementwise<ops::Mish> kMish(&MakePlain<simd::UnaryOp::kMish>,
                                           &PlainRow<simd::UnaryOp::kMish>);
const RegisterElementwise<ops::HardSwish> kHardSwish(&MakePlain<simd::UnaryOp::kHardSwish>,
                                                     &PlainRow<simd::UnaryOp::kHardSwish>);
const RegisterElementwise<ops::Reciprocal> kReciprocal(&MakePlain<simd::UnaryOp::kReciprocal>,
                                                       &PlainRow<simd::UnaryOp::kReciprocal>);

simd::UnaryParams HardSigmoidParams(ir::Operation op) {
  const auto attrs = op.attrs_of<ops::HardSigmoid>();
  return {attrs.alpha, attrs.beta};
}
Made MakeHardSigmoid(const KernelContext& context) {
  return MakeUnary(context, simd::UnaryOp::kHardSigmoid, HardSigmoidParams(context.op()));
}
std::optional<simd::RowFunction> HardSigmoidRow(const RowContext& context) {
  return UnaryRow<simd::UnaryOp::kHardSigmoid>(context, HardSigmoidParams(context.op));
}
const RegisterElementwise<ops::HardSigmoid> kHardSigmoid(&MakeHardSigmoid, &HardSigmoidRow);

simd::UnaryParams LeakyReluParams(ir::Operation op) {
  return {op.attrs_of<ops::LeakyRelu>().alpha, 0};
}
Made MakeLeakyRelu(const KernelContext& context) {
  return MakeUnary(context, simd::UnaryOp::kLeakyRelu, LeakyReluParams(context.op()));
}
std::optional<simd::RowFunction> LeakyReluRow(const RowContext& context) {
  return UnaryRow<simd::UnaryOp::kLeakyRelu>(context, LeakyReluParams(context.op));
}
const RegisterElementwise<ops::LeakyRelu> kLeakyRelu(&MakeLeakyRelu, &LeakyReluRow);

// Of no elementwise group: their ops have loops of their own.
const RegisterKernel<ops::Floor> kFloor("native", &MakePlain<simd::UnaryOp::kFloor>);
const RegisterKernel<ops::Ceil> kCeil("native", &MakePlain<simd::UnaryOp::kCeil>);
const RegisterKernel<ops::Round> kRound("native", &MakePlain<simd::UnaryOp::kRound>);
const RegisterKernel<ops::Sign> kSign("native", &MakePlain<simd::UnaryOp::kSign>);
const RegisterKernel<ops::Softsign> kSoftsign("native", &MakePlain<simd::UnaryOp::kSoftsign>);

Made MakeElu(const KernelContext& context) {
  return MakeUnary(context, simd::UnaryOp::kElu, {context.attrs_of<ops::Elu>().alpha, 0});
}
const RegisterKernel<ops::Elu> kElu("native", &MakeElu);

Made MakeSelu(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Selu>();
  return MakeUnary(context, simd::UnaryOp::kSelu, {attrs.gamma, attrs.alpha});
}
const RegisterKernel<ops::Selu> kSelu("native", &MakeSelu);

Made MakeCelu(const KernelContext& context) {
  const float alpha = context.attrs_of<ops::Celu>().alpha;
  if (!(alpha > 0)) return context.Unsupported("an alpha that is not above 0");
  return MakeUnary(context, simd::UnaryOp::kCelu, {alpha, 0});
}
const RegisterKernel<ops::Celu> kCelu("native", &MakeCelu);

Made MakeThresholdedRelu(const KernelContext& context) {
  return MakeUnary(context, simd::UnaryOp::kThresholdedRelu,
                   {context.attrs_of<ops::ThresholdedRelu>().alpha, 0});
}
const RegisterKernel<ops::ThresholdedRelu> kThresholdedRelu("native", &MakeThresholdedRelu);

Made MakeShrink(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Shrink>();
  return MakeUnary(context, simd::UnaryOp::kShrink, {attrs.lambd, attrs.bias});
}
const RegisterKernel<ops::Shrink> kShrink("native", &MakeShrink);

// Bounds that are not constant are read in every run.
simd::UnaryParams ClipParams(const float* min, const float* max) {
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
    simd::Unary(simd::UnaryOp::kClip, ClipParams(args.input<float>(1), args.input<float>(2)),
                args.input<float>(0), args.output<float>(0), n, *args.pool);
  });
}
std::optional<simd::RowFunction> ClipRow(const RowContext& context) {
  if (context.result() != ir::DataType::kF32) return std::nullopt;
  const auto run = [](const simd::RowFunction&, const simd::RowArgs& args) {
    const simd::UnaryParams bounds =
        ClipParams(static_cast<const float*>(args.in[1]), static_cast<const float*>(args.in[2]));
    simd::UnaryOnRow(simd::UnaryOp::kClip, bounds, static_cast<const float*>(args.in[0]),
                     static_cast<float*>(args.out), args.n);
  };
  return simd::RowFunction{.run = run, .cost = simd::CostOf(simd::UnaryOp::kClip)};
}
const RegisterElementwise<ops::Clip> kClip(&MakeClip, &ClipRow);

// Of a bias that is broadcast in any way. As a row of an elementwise group computes it, bit for bit.
Made MakeGeluOfSum(const KernelContext& context, simd::UnaryOp op) {
  const Dims shape(context.result_dims(0));
  const Dims x_strides = BroadcastStrides(context.dims(0), shape),
             bias_strides = BroadcastStrides(context.dims(1), shape);
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("gelu", {.may_overwrite = 1}, [=](const KernelArgs& args) {
    auto* y = args.output<float>(0);
    simd::Binary<float>(simd::BinaryOp::kAdd, args.input<float>(0), x_strides, args.input<float>(1),
                        bias_strides, y, shape, *args.pool);
    simd::Unary(op, {}, y, y, n, *args.pool);
  });
}

// gelu(x + bias).
Made MakeGelu(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const bool exact =
      context.attrs_of<ir::fused::Gelu>().approximate == ir::fused::GeluApproximate::kNone;
  const simd::Activation kind = {exact ? simd::ActivationKind::kGelu
                                       : simd::ActivationKind::kGeluTanh};
  const std::span<const int64_t> dims = context.result_dims(0);
  const int64_t n = context.result_type(0).NumElements();
  const int64_t columns = context.HasInput(1) ? context.input_type(1).NumElements() : n;
  if (context.HasInput(1) && (dims.empty() || context.dims(1).empty() || columns != dims.back() ||
                              context.dims(1).back() != columns))
    return MakeGeluOfSum(context, exact ? simd::UnaryOp::kGelu : simd::UnaryOp::kGeluTanh);
  return MakeNative("gelu", {.may_overwrite = 1}, [=](const KernelArgs& args) {
    simd::BiasActivation(args.input<float>(0), args.input<float>(1), kind, args.output<float>(0),
                         n / columns, columns, *args.pool);
  });
}

template <simd::UnaryOp kOp>
void RunGeluRow(const simd::RowFunction&, const simd::RowArgs& args) {
  const auto* x = static_cast<const float*>(args.in[0]);
  const auto* bias = static_cast<const float*>(args.in[1]);
  auto* y = static_cast<float*>(args.out);
  if (bias != nullptr)
    simd::BinaryOnRow<float>(simd::BinaryOp::kAdd, x, args.stride[0], bias, args.stride[1], y,
                             args.n);
  simd::UnaryOnRow(kOp, {}, bias != nullptr ? y : x, y, args.n);
}
std::optional<simd::RowFunction> GeluRow(const RowContext& context) {
  if (!context.Has(context.operands.size(), ir::DataType::kF32, ir::DataType::kF32))
    return std::nullopt;
  const bool exact =
      context.op.attrs_of<ir::fused::Gelu>().approximate == ir::fused::GeluApproximate::kNone;
  return simd::RowFunction{
      .run = exact ? &RunGeluRow<simd::UnaryOp::kGelu> : &RunGeluRow<simd::UnaryOp::kGeluTanh>,
      .cost = simd::CostOf(simd::UnaryOp::kGelu)};
}
const RegisterElementwise<ir::fused::Gelu> kGelu(&MakeGelu, &GeluRow);

}  // namespace
}  // namespace weft::kernels::native

// Elementwise operators. XNNPACK lets all of them run in place.
#include <algorithm>
#include <cstring>

#include "ir/dialects/onnx.h"
#include "kernels/xnnpack/rows.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {
namespace {

namespace ops = ir::ops;

// --- one operand ------------------------------------------------------------------

template <class F, class... Parameters>
Made MakeUnary(const KernelContext& context, std::string_view name, const F& function,
               Parameters... parameters) {
  const auto n = static_cast<size_t>(context.result_type(0).NumElements());
  return MakeRows(context, name, UnarySizes(function, n),
                  [=](xnn_operator_t* op) { return CreateUnary(function, op, n, parameters...); });
}

Made MakeAbs(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elementwise", WEFT_XNN_UNARY(abs));
}
const RegisterKernel<ops::Abs> kAbs("xnnpack", &MakeAbs);

Made MakeNeg(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elementwise", WEFT_XNN_UNARY(negate));
}
const RegisterKernel<ops::Neg> kNeg("xnnpack", &MakeNeg);

// Debian 13's XNNPACK multiplies by the inverse of the root, which makes infinity NaN.
Made MakeSqrt(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elementwise", WEFT_XNN_UNARY(square_root));
}
const RegisterKernel<ops::Sqrt> kSqrt("xnnpack", &MakeSqrt, kHidesNan);

Made MakeSigmoid(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elementwise", WEFT_XNN_UNARY(sigmoid));
}
const RegisterKernel<ops::Sigmoid> kSigmoid("xnnpack", &MakeSigmoid);

Made MakeHardSwish(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elementwise", WEFT_XNN_UNARY(hardswish));
}
const RegisterKernel<ops::HardSwish> kHardSwish("xnnpack", &MakeHardSwish);

Made MakeClamp(const KernelContext& context, float min, float max) {
  return MakeUnary(context, "xnnpack clamp", WEFT_XNN_UNARY(clamp), min, max);
}
Made MakeRelu(const KernelContext& context) { return MakeClamp(context, 0, kInfinity); }
const RegisterKernel<ops::Relu> kRelu("xnnpack", &MakeRelu, kHidesNan);

Made MakeClip(const KernelContext& context) {
  float bounds[2] = {-kInfinity, kInfinity};
  for (size_t i : {0, 1}) {
    if (!context.HasInput(i + 1)) continue;
    const ir::Attribute bound = context.constant(i + 1);
    if (!bound || bound.bytes().size() != sizeof(float))
      return context.Unsupported("bounds that are not constant");
    std::memcpy(&bounds[i], bound.bytes().data(), sizeof(float));
  }
  if (!(bounds[0] < bounds[1])) return context.Unsupported("an empty range");
  return MakeClamp(context, bounds[0], bounds[1]);
}
const RegisterKernel<ops::Clip> kClip("xnnpack", &MakeClip, kHidesNan);

Made MakeLeakyRelu(const KernelContext& context) {
  return MakeUnary(context, "xnnpack leaky relu", WEFT_XNN_UNARY(leaky_relu),
                   context.attrs_of<ops::LeakyRelu>().alpha);
}
const RegisterKernel<ops::LeakyRelu> kLeakyRelu("xnnpack", &MakeLeakyRelu);

Made MakeElu(const KernelContext& context) {
  return MakeUnary(context, "xnnpack elu", WEFT_XNN_UNARY(elu), context.attrs_of<ops::Elu>().alpha);
}
// The zeros of AVX2 have no sign.
const RegisterKernel<ops::Elu> kElu("xnnpack", &MakeElu, kHidesNan);

// --- two operands -----------------------------------------------------------------

template <class F>
Made MakePair(const KernelContext& context, const F& function) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (context.num_inputs() != 2) return context.Unsupported("other than two operands");
  const std::vector<size_t> a(context.dims(0).begin(), context.dims(0).end());
  const std::vector<size_t> b(context.dims(1).begin(), context.dims(1).end());
  if (std::max(a.size(), b.size()) > XNN_MAX_TENSOR_DIMS)
    return context.Unsupported("more than 6 dimensions");
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, CreateOperator("elementwise", [&](xnn_operator_t* op) {
                          return CreateBinary(function, op);
                        }));
  return MakeXnnOver(context.OperandsLikeResult(), "xnnpack elementwise", std::move(op),
                     BinarySizes(function, a, b));
}

Made MakeAdd(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(add)); }
const RegisterKernel<ops::Add> kAdd("xnnpack", &MakeAdd, kHidesNan);

Made MakeSub(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(subtract)); }
const RegisterKernel<ops::Sub> kSub("xnnpack", &MakeSub, kHidesNan);

Made MakeMul(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(multiply)); }
const RegisterKernel<ops::Mul> kMul("xnnpack", &MakeMul, kHidesNan);

Made MakeDiv(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(divide)); }
const RegisterKernel<ops::Div> kDiv("xnnpack", &MakeDiv, kHidesNan);

Made MakeMax(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(maximum)); }
const RegisterKernel<ops::Max> kMax("xnnpack", &MakeMax, kHidesNan);

Made MakeMin(const KernelContext& context) { return MakePair(context, WEFT_XNN_BINARY(minimum)); }
const RegisterKernel<ops::Min> kMin("xnnpack", &MakeMin, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack

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

using CreateUnary = xnn_status (*)(size_t, size_t, size_t, uint32_t, xnn_operator_t*);

template <CreateUnary kCreate, SetupUnary kSetup>
Made MakeUnary(const KernelContext& context) {
  return MakeRows(context, "xnnpack elementwise", 1, context.result_type(0).NumElements(), kSetup,
                  [](size_t n, xnn_operator_t* op) { return kCreate(n, n, n, 0, op); });
}
const RegisterKernel<ops::Abs> kAbs("xnnpack",
                                    &MakeUnary<xnn_create_abs_nc_f32, xnn_setup_abs_nc_f32>);
const RegisterKernel<ops::Neg> kNeg("xnnpack",
                                    &MakeUnary<xnn_create_negate_nc_f32, xnn_setup_negate_nc_f32>);
const RegisterKernel<ops::Sqrt> kSqrt(
    "xnnpack", &MakeUnary<xnn_create_square_root_nc_f32, xnn_setup_square_root_nc_f32>);
const RegisterKernel<ops::Sigmoid> kSigmoid(
    "xnnpack", &MakeUnary<xnn_create_sigmoid_nc_f32, xnn_setup_sigmoid_nc_f32>);
const RegisterKernel<ops::HardSwish> kHardSwish(
    "xnnpack", &MakeUnary<xnn_create_hardswish_nc_f32, xnn_setup_hardswish_nc_f32>);

Made MakeClamp(const KernelContext& context, float min, float max) {
  return MakeRows(context, "xnnpack clamp", 1, context.result_type(0).NumElements(),
                  &xnn_setup_clamp_nc_f32, [&](size_t n, xnn_operator_t* op) {
                    return xnn_create_clamp_nc_f32(n, n, n, min, max, 0, op);
                  });
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
  const float alpha = context.attrs_of<ops::LeakyRelu>().alpha;
  return MakeRows(context, "xnnpack leaky relu", 1, context.result_type(0).NumElements(),
                  &xnn_setup_leaky_relu_nc_f32, [&](size_t n, xnn_operator_t* op) {
                    return xnn_create_leaky_relu_nc_f32(n, n, n, alpha, 0, op);
                  });
}
const RegisterKernel<ops::LeakyRelu> kLeakyRelu("xnnpack", &MakeLeakyRelu);

Made MakeElu(const KernelContext& context) {
  const float alpha = context.attrs_of<ops::Elu>().alpha;
  return MakeRows(
      context, "xnnpack elu", 1, context.result_type(0).NumElements(), &xnn_setup_elu_nc_f32,
      [&](size_t n, xnn_operator_t* op) { return xnn_create_elu_nc_f32(n, n, n, alpha, 0, op); });
}
const RegisterKernel<ops::Elu> kElu("xnnpack", &MakeElu);

// --- two operands -----------------------------------------------------------------

using SetupBinary = xnn_status (*)(xnn_operator_t, size_t, const size_t*, size_t, const size_t*,
                                   const float*, const float*, float*, pthreadpool_t);

template <class Create>
Made MakePair(const KernelContext& context, SetupBinary setup, const Create& create) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (context.num_inputs() != 2) return context.Unsupported("other than two operands");
  const std::vector<size_t> a(context.dims(0).begin(), context.dims(0).end());
  const std::vector<size_t> b(context.dims(1).begin(), context.dims(1).end());
  if (std::max(a.size(), b.size()) > XNN_MAX_TENSOR_DIMS)
    return context.Unsupported("more than 6 dimensions");
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, CreateOperator("elementwise", create));
  return MakeXnnOver(context.OperandsLikeResult(), "xnnpack elementwise", std::move(op),
                     [setup, a, b](xnn_operator_t handle, const KernelArgs& args) {
                       return setup(handle, a.size(), a.data(), b.size(), b.data(),
                                    args.input<float>(0), args.input<float>(1),
                                    args.output<float>(0), args.pool->handle());
                     });
}

using CreateClamped = xnn_status (*)(float, float, uint32_t, xnn_operator_t*);
template <CreateClamped kCreate, SetupBinary kSetup>
Made MakeBinary(const KernelContext& context) {
  return MakePair(context, kSetup,
                  [](xnn_operator_t* op) { return kCreate(-kInfinity, kInfinity, 0, op); });
}
using CreatePlain = xnn_status (*)(uint32_t, xnn_operator_t*);
template <CreatePlain kCreate, SetupBinary kSetup>
Made MakeExtremum(const KernelContext& context) {
  return MakePair(context, kSetup, [](xnn_operator_t* op) { return kCreate(0, op); });
}

const RegisterKernel<ops::Add> kAdd("xnnpack",
                                    &MakeBinary<xnn_create_add_nd_f32, xnn_setup_add_nd_f32>,
                                    kHidesNan);
const RegisterKernel<ops::Sub> kSub(
    "xnnpack", &MakeBinary<xnn_create_subtract_nd_f32, xnn_setup_subtract_nd_f32>, kHidesNan);
const RegisterKernel<ops::Mul> kMul(
    "xnnpack", &MakeBinary<xnn_create_multiply_nd_f32, xnn_setup_multiply_nd_f32>, kHidesNan);
const RegisterKernel<ops::Div> kDiv("xnnpack",
                                    &MakeBinary<xnn_create_divide_nd_f32, xnn_setup_divide_nd_f32>,
                                    kHidesNan);
const RegisterKernel<ops::Max> kMax(
    "xnnpack", &MakeExtremum<xnn_create_maximum_nd_f32, xnn_setup_maximum_nd_f32>, kHidesNan);
const RegisterKernel<ops::Min> kMin(
    "xnnpack", &MakeExtremum<xnn_create_minimum_nd_f32, xnn_setup_minimum_nd_f32>, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack

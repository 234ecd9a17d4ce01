#include "kernels/xnnpack/epilogue.h"

#include <fmt/format.h>

#include "kernels/native/activation.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {

absl::StatusOr<Epilogue> Epilogue::Make(const KernelContext& context, size_t bias, size_t residual,
                                        ir::fused::Activation activation,
                                        const ir::Floats& params) {
  Epilogue e;
  e.min_ = -kInfinity;
  e.max_ = kInfinity;
  e.elements_ = context.result_type(0).NumElements();
  if (context.HasInput(bias)) {
    const ir::Attribute constant = context.constant(bias);
    if (!constant) return context.Unsupported("a bias that is not constant");
    e.bias_ = native::ConstantFloats(constant);
    e.bias_constant_ = constant;
  }
  if (context.HasInput(residual)) {
    if (context.input_type(residual) != context.result_type(0))
      return context.Unsupported("a residual that is broadcast");
    e.residual_ = residual;
  }
  const bool clamps = activation == ir::fused::Activation::kRelu ||
                      (activation == ir::fused::Activation::kClip && params[0] < params[1]);
  if (clamps && e.residual_ == 0) {
    e.min_ = activation == ir::fused::Activation::kRelu ? 0 : params[0];
    e.max_ = activation == ir::fused::Activation::kRelu ? kInfinity : params[1];
  } else {
    e.activation_ = native::MakeActivation(activation, params);
  }
  return e;
}

std::string Epilogue::Key() const {
  return fmt::format(" min={:a} max={:a}", min_, max_);  // every bit
}

void Epilogue::Finish(const KernelArgs& args) const {
  float* y = args.output<float>(0);
  if (residual_ != 0) {
    const Dims shape = {elements_}, strides = {1};
    simd::Binary<float>(simd::BinaryOp::kAdd, args.input<float>(residual_), strides, y, strides, y,
                        shape, *args.pool);
  }
  if (activation_.kind != simd::ActivationKind::kNone)
    simd::BiasActivation(y, nullptr, activation_, y, 1, elements_, *args.pool);
}

}  // namespace weft::kernels::xnnpack

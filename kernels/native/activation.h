// fused::Activation as kernels/native/simd takes it.
#pragma once

#include "ir/dialects/fused/activation.h"
#include "kernels/native/simd/activation.h"

namespace weft::kernels::native {

// `params` has the number of entries that the activation wants (Infer checks it).
inline simd::Activation MakeActivation(ir::fused::Activation activation, const ir::Floats& params) {
  const float a = !params.empty() ? params[0] : 0;
  const float b = params.size() > 1 ? params[1] : 0;
  switch (activation) {
    case ir::fused::Activation::kNone:
      break;
    case ir::fused::Activation::kRelu:
      return {simd::ActivationKind::kRelu};
    case ir::fused::Activation::kClip:
      return {simd::ActivationKind::kClip, a, b};
    case ir::fused::Activation::kSigmoid:
      return {simd::ActivationKind::kSigmoid};
    case ir::fused::Activation::kTanh:
      return {simd::ActivationKind::kTanh};
    case ir::fused::Activation::kGelu:
      return {simd::ActivationKind::kGelu};
    case ir::fused::Activation::kHardSigmoid:
      return {simd::ActivationKind::kHardSigmoid, a, b};
    case ir::fused::Activation::kHardSwish:
      return {simd::ActivationKind::kHardSwish};
    case ir::fused::Activation::kSwish:
      return {simd::ActivationKind::kSwish};
    case ir::fused::Activation::kGeluTanh:
      return {simd::ActivationKind::kGeluTanh};
  }
  return {};
}

}  // namespace weft::kernels::native

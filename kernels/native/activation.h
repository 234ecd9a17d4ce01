// fused::Activation as kernels/cpu takes it.
#pragma once

#include "ir/dialects/fused/activation.h"
#include "kernels/cpu/activation.h"

namespace weft::kernels::native {

// `params` has the number of entries that the activation wants (Infer checks it).
inline cpu::Activation MakeActivation(ir::fused::Activation activation, const ir::Floats& params) {
  const float a = !params.empty() ? params[0] : 0;
  const float b = params.size() > 1 ? params[1] : 0;
  switch (activation) {
    case ir::fused::Activation::kNone:
      break;
    case ir::fused::Activation::kRelu:
      return {cpu::ActivationKind::kRelu};
    case ir::fused::Activation::kClip:
      return {cpu::ActivationKind::kClip, a, b};
    case ir::fused::Activation::kSigmoid:
      return {cpu::ActivationKind::kSigmoid};
    case ir::fused::Activation::kTanh:
      return {cpu::ActivationKind::kTanh};
    case ir::fused::Activation::kGelu:
      return {cpu::ActivationKind::kGelu};
    case ir::fused::Activation::kHardSigmoid:
      return {cpu::ActivationKind::kHardSigmoid, a, b};
    case ir::fused::Activation::kHardSwish:
      return {cpu::ActivationKind::kHardSwish};
    case ir::fused::Activation::kSwish:
      return {cpu::ActivationKind::kSwish};
    case ir::fused::Activation::kGeluTanh:
      return {cpu::ActivationKind::kGeluTanh};
  }
  return {};
}

}  // namespace weft::kernels::native

// fused::Activation as kernels/native/simd takes it.
#pragma once

#include "ir/attr_value.h"
#include "kernels/native/simd/activation.h"

namespace weft::kernels::native {

// `params` has the number of entries that the activation wants (Infer checks it).
inline simd::Activation MakeActivation(ir::fused::Activation activation, const ir::Floats& params) {
  return {.kind = activation,
          .a = !params.empty() ? params[0] : 0,
          .b = params.size() > 1 ? params[1] : 0};
}

}  // namespace weft::kernels::native

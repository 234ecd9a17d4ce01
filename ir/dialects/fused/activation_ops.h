// The ops that are an activation of their one operand, as a list of types for rules.
#pragma once

#include <type_traits>

#include "ir/dialects/fused/activation.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/onnx/elementwise.h"

namespace weft::ir::fused {

template <class... Ops>
struct OpList {
  // Without the first, which is void where an activation has no op.
  template <class First, class... Others>
  static auto Add(OpList<First, Others...>) {
    if constexpr (std::is_void_v<First>) {
      return Add(OpList<Others...>());
    } else {
      return OpList<Ops..., First>::Add(OpList<Others...>());
    }
  }
  static auto Add(OpList<>) { return OpList(); }
};

#define WEFT_ROW(Name, text, num_params, op, body) , op
using ActivationOps = decltype(OpList<>::Add(OpList<void WEFT_FUSED_ACTIVATIONS(WEFT_ROW)>()));
#undef WEFT_ROW

}  // namespace weft::ir::fused

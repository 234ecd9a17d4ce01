// Operators of one's own that every program read by weft::Model, ir-opt and ir-run knows, without a
// word to any of them:
//
//   WEFT_REGISTER_OPS(acme::Gain, acme::Bias);
#pragma once

#include "ir/op_def.h"

namespace weft::ir {

// Adds the operators registered so.
void LoadRegisteredOps(IrContext& context);
size_t NumRegisteredOpSets();

namespace internal {
bool AddOpSet(void (*add)(IrContext& context));
}

#define WEFT_REGISTER_OPS(...) WEFT_REGISTER_OPS_AS(__COUNTER__, __VA_ARGS__)
#define WEFT_REGISTER_OPS_AS(n, ...) WEFT_REGISTER_OPS_NAMED(n, __VA_ARGS__)
#define WEFT_REGISTER_OPS_NAMED(n, ...)                       \
  [[maybe_unused]] static const bool weft_registered_ops##n = \
      ::weft::ir::internal::AddOpSet(&::weft::ir::AddOps<__VA_ARGS__>)

}  // namespace weft::ir

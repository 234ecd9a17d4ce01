// A plugin: a rule, and an operator with its kernel, for `ir-opt --load plugin.so`, `ir-run --load plugin.so`.
#include <ir/dialects/op_registry.h>
#include <passes/rules.h>
#include <weft/plugin.h>

#include "gain.h"

WEFT_PLUGIN();

namespace acme {
WEFT_REGISTER_OPS(Gain);
}  // namespace acme

namespace weft::passes {

// gain(x, factor: 1) => x
WEFT_RULE(DropUnitGain, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<acme::Gain>({.factor = 1.0f})(x);
  res.Tensor(out) = x;
}

}  // namespace weft::passes

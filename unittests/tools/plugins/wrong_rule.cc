// Its result uses a tensor that its source does not have.
#include "passes/rules.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace weft::passes {

WEFT_RULE(UseUnbound, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto unbound = src.Tensor("unbound");
  auto out = src.Op<ops::Relu>()(x);
  res.Tensor(out) = res.Op<ops::Neg>()(unbound);
}

}  // namespace weft::passes

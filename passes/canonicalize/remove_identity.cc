#include "passes/rules.h"

namespace weft::passes {

// identity(x) => x
WEFT_RULE(RemoveIdentity, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Identity>()(x);
  res.Tensor(out) = x;
}

}  // namespace weft::passes

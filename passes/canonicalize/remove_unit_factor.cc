#include "passes/rules.h"

namespace weft::passes {

// x * 1, 1 * x, x / 1 => x, also where 1 is expanded
WEFT_RULE(RemoveUnitFactor, "canonicalize", kExact, .seed = "ai-system") {
  auto x = src.Tensor("x");
  auto out = src.OneOf<ops::Mul, ops::Div>()(x, src.Skip<ops::Expand>(src.Splat(1)));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

}  // namespace weft::passes

// Units and zeros of the logical operations: what x * 1 and x * 0 are to arithmetic, beside
// ai_system_graph_optimization.md (5.2.1). A constant operand may be expanded.
#include "passes/rules.h"

namespace weft::passes {

// and(x, true), or(x, false), xor(x, false) => x, operands in either order
WEFT_RULE(DropLogicalUnit, "canonicalize", kExact, .seed = "ai-system",
          .aliases = {"remove-logical-unit"}) {
  auto x = src.Tensor("x");
  auto yes = src.Skip<ops::Expand>(src.Splat(1)), no = src.Skip<ops::Expand>(src.Splat(0));
  auto out = src.Either(src.Op<ops::And>()(x, yes), src.OneOf<ops::Or, ops::Xor>()(x, no));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// and(x, false) => expand(false), or(x, true) => expand(true), operands in either order. The answer
// takes the shape of the result, as a Broadcast.
WEFT_RULE(FoldDecidedLogic, "canonicalize", kExact, .seed = "ai-system") {
  auto x = src.Tensor("x"), no = src.Splat(0), yes = src.Splat(1);
  auto out = src.Either(src.Op<ops::And>()(x, src.Skip<ops::Expand>(no)),
                        src.Op<ops::Or>()(x, src.Skip<ops::Expand>(yes)));
  src.Require(StaticShape(out));
  res.Tensor(out) =
      res.Op<ops::Expand>()(res.Constant(ScalarOf(no, yes)), res.ConstantInts(ShapeOf(out)));
}

}  // namespace weft::passes

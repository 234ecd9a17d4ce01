// Ops that only reinterpret a shape, as reshapes that merge with those around them.
#include "passes/rules.h"

namespace weft::passes {

// flatten(x) => reshape(x, known shape)
WEFT_RULE(LowerFlattenToReshape, "layout-cleanup", kExact, .aliases = {"flatten-to-reshape"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Flatten>(AnyAttrs())(x);
  src.Require(NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// transpose(x, p) that moves only dimensions of size 1 => reshape(x)
WEFT_RULE(LowerUnitTransposeToReshape, "layout-cleanup", kExact,
          .aliases = {"transpose-of-unit-dims-to-reshape"}) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<ops::Transpose>({.perm = p})(x);
  src.Require(NonEmpty(x), OnlyUnitDimsMove(x, p));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

}  // namespace weft::passes

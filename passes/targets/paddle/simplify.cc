// No-ops and pairs of Paddle's shape ops: the twins of the rules in passes/canonicalize/{casts,
// reshape,transpose}.cc, and the first example of paddle_drr_pass_demo.txt.
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/elementwise.h"
#include "ir/dialects/pd/movement.h"
#include "ir/dialects/pd/shape.h"
#include "passes/rules.h"

namespace weft::passes {

// cast(x, type of x) => x
WEFT_RULE(DropNoopPdCast, "paddle", kExact, .aliases = {"remove-noop-pd-cast"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<pd::Cast>(AnyAttrs())(x);
  src.Require(SameDType(x, out));
  res.Tensor(out) = x;
}

// reshape(x, shape of x) => x
WEFT_RULE(DropNoopPdReshape, "paddle", kExact, .aliases = {"remove-noop-pd-reshape"}) {
  auto x = src.Tensor("x"), shape = src.Tensor("shape");
  const Tensor out = src.Op<pd::Reshape>()(x, shape)[0];
  src.Require(SameShape(x, out));
  res.Tensor(out) = x;
}

// transpose(x, [0, 1, ..]) => x
WEFT_RULE(DropNoopPdTranspose, "paddle", kExact, .aliases = {"remove-noop-pd-transpose"}) {
  auto perm = src.Attr<Ints>("perm");
  auto x = src.Tensor("x");
  auto out = src.Op<pd::Transpose>({.perm = perm})(x);
  src.Require(IsIdentity(perm));
  res.Tensor(out) = x;
}

// cast(cast(x, t), s) => cast(x, s), where t holds every value of x's type: f32 -> f64 -> f32 is
// one cast, f32 -> f16 -> f32 is not
WEFT_RULE(MergePdCasts, "paddle", kExact, .seed = "paddle", .aliases = {"remove-redundant-cast"}) {
  auto t = src.Attr<ir::DataType>("t"), s = src.Attr<ir::DataType>("s");
  auto x = src.Tensor("x");
  auto outer = src.Op<pd::Cast>({.dtype = s})(src.Keep(src.Op<pd::Cast>({.dtype = t})(x)));
  src.Require(CastsCompose(x, t, s));
  res.Tensor(outer) = res.Op<pd::Cast>({.dtype = s})(x);
}

// reshape(reshape(x, s), t) => reshape(x, t), where t copies no size that x does not have. The
// inner reshape may have other users.
WEFT_RULE(MergePdReshapes, "paddle", kExact, .seed = "paddle",
          .aliases = {"remove-redundant-reshape"}) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto [inner, inner_xshape] = src.Op<pd::Reshape>()(x, s);
  src.Keep(inner_xshape);
  auto [outer, outer_xshape] = src.Op<pd::Reshape>()(src.Keep(inner), t);
  src.Require(ReshapesCompose(x, inner, t));
  res.Tensor(outer) = res.Op<pd::Reshape>()(x, t)[0];
}

// transpose(transpose(x, p), q) => transpose(x, p[q]). The inner transpose may have other users:
// the outer one no longer waits for it.
WEFT_RULE(MergePdTransposes, "paddle", kExact, .seed = "paddle",
          .aliases = {"remove-redundant-transpose"}) {
  auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<pd::Transpose>({.perm = p})(x));
  auto outer = src.Op<pd::Transpose>({.perm = q})(inner);
  res.Tensor(outer) = res.Op<pd::Transpose>({.perm = Compose(p, q)})(x);
}

// expand(full(v), shape) => full(v). The shape is that of the result: the document lists an expand
// that is no legal broadcast but states the shape of its result.
WEFT_RULE(FoldPdExpand, "paddle", kExact, .seed = "paddle",
          .aliases = {"fold-expand-to-constant"}) {
  auto full = src.Op<pd::Full>(AnyAttrs());
  auto x = full();
  auto out = src.Op<pd::Expand>()(x, src.Tensor("shape"));
  src.Require(StaticShape(out), SameDType(x, out));
  res.Tensor(out) = res.Like(full, {.shape = ShapeOf(out)})();
}

}  // namespace weft::passes

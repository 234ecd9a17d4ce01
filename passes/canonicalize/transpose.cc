#include "passes/rules.h"

namespace weft::passes {

// transpose(x) => transpose(x, [.., 1, 0]): what is not written is written out, for the rules that
// read it
WEFT_RULE(LowerDefaultTranspose, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Transpose>()(x);
  auto perm = src.Let("the rank is known", ReversedAxes(x));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = perm})(x);
}

// transpose(x, [0, 1, ..]) => x
WEFT_RULE(DropIdentityTranspose, "canonicalize", kExact, .aliases = {"remove-identity-transpose"}) {
  auto perm = src.Attr<Ints>("perm");
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Transpose>({.perm = perm})(x);
  src.Require(IsIdentity(perm));
  res.Tensor(out) = x;
}

// transpose(x, p) => x, where only sizes of 1 move, and to where there was another
WEFT_RULE(DropUnitTranspose, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<ops::Transpose>({.perm = p})(x);
  src.Require(OnlyUnitDimsMove(x, p), SameType(x, out));
  res.Tensor(out) = x;
}

// transpose(transpose(x, p), q) => transpose(x, p[q]). The inner transpose may have other users: the
// outer one no longer waits for it.
WEFT_RULE(MergeTransposes, "canonicalize", kExact, .aliases = {"compose-transposes"}) {
  auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
  auto outer = src.Op<ops::Transpose>({.perm = q})(inner);
  res.Tensor(outer) = res.Op<ops::Transpose>({.perm = Compose(p, q)})(x);
}

}  // namespace weft::passes

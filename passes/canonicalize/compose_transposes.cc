#include "passes/rules.h"

namespace weft::passes {

// transpose(transpose(x, p), q) => transpose(x, p[q]). The inner transpose may have other users: the
// outer one no longer waits for it.
WEFT_RULE(ComposeTransposes, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
  auto inner = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
  auto outer = src.Op<ops::Transpose>({.perm = q})(inner);
  res.Tensor(outer) = res.Op<ops::Transpose>({.perm = Compose(p, q)})(x);
}

}  // namespace weft::passes

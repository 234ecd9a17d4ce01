// What a user of Weft writes for one rule, for benchmarks/compile_time.sh, which compiles it alone.
#include "passes/rules.h"

namespace weft::passes {

// transpose(transpose(x, p), q) => transpose(x, p[q])
WEFT_RULE(BenchTranspose, "bench", kExact) {
  auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
  auto outer = src.Op<ops::Transpose>({.perm = q})(inner);
  res.Tensor(outer) = res.Op<ops::Transpose>({.perm = Compose(p, q)})(x);
}

}  // namespace weft::passes

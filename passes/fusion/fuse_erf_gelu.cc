#include <numbers>

#include "ir/dialects/fused/elementwise.h"
#include "passes/rules.h"

namespace weft::passes {

// x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)
WEFT_RULE(FuseErfGelu, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x");
  auto half = src.Splat(0.5);
  auto root = std::numbers::sqrt2;
  auto t = src.Either(x / src.Splat(root, 1e-6), x * src.Splat(1 / root, 1e-6));
  auto a = src.Op<ops::Erf>()(t) + 1;
  auto out = src.EitherOf({x * half * a, x * a * half, x * (a * half)});
  src.Require(DType(x, kF32), SameType(x, out));
  res.Tensor(out) = res.Op<fused::Gelu>()(x);
}

}  // namespace weft::passes

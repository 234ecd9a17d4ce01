#include <numbers>

#include "ir/dialects/fused/elementwise.h"
#include "passes/rules.h"

namespace weft::passes {

// x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)
WEFT_RULE(FuseErfGelu, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x");
  auto half = src.Splat(0.5), one = src.Splat(1);
  auto root = src.Splat(std::numbers::sqrt2, 1e-6),
       inverse = src.Splat(1 / std::numbers::sqrt2, 1e-6);
  auto a = src.Op<ops::Erf>()(src.Either(x / root, x * inverse)) + one;
  auto out = src.EitherOf({x * half * a, x * a * half, x * (a * half)});
  src.Require(DType(x, kF32));
  for (auto c : {half, one, root, inverse}) src.Require(Broadcasts(IfGiven(c), x));
  res.Tensor(out) = res.Op<fused::Gelu>()(x);
}

}  // namespace weft::passes

// A rule of ours has that name.
#include "passes/rules.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace acme {
using namespace weft::passes;  // NOLINT

WEFT_RULE(DropUnitFactor, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Relu>()(src.Op<ops::Relu>()(x));
  res.Tensor(out) = res.Op<ops::Relu>()(x);
}

}  // namespace acme

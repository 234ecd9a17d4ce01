// A rule in a header that two tests include.
#pragma once

#include "passes/rules.h"

namespace weft::passes {

// abs(abs(x)) => abs(x)
WEFT_RULE(SharedByTwoTests, "rules-test", kExact, .opt_in = true) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Abs>()(src.Op<ops::Abs>()(x));
  res.Tensor(out) = res.Op<ops::Abs>()(x);
}

}  // namespace weft::passes

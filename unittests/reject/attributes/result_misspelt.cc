// EXPECT: (cannot convert .*Transpose|no matching member function for call to .Op.)
// EXPECT-LINES: 8
#include "passes/rules.h"

namespace weft::passes {

WEFT_RULE(Wrong, "none", kExact) {
  auto x = src.Tensor("x");
  res.Op<ops::Transpose>({.prem = Ints{0}})(x);
}

}  // namespace weft::passes

// EXPECT: (O = weft::ir::ops::Transpose|SlotsOf<weft::ir::ops::Transpose>::Source<.*vector<long>>)
// EXPECT-LINES: 8
#include "passes/rules.h"

namespace weft::passes {

WEFT_RULE(Wrong, "none", kExact) {
  auto x = src.Tensor("x");
  auto a = src.Attr<float>("a");
  src.Op<ops::Transpose>({.perm = a})(x);
}

}  // namespace weft::passes

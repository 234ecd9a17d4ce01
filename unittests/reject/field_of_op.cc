// EXPECT: error: .*(‘prem’|'prem')
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  auto t = src.Op<ops::Transpose>();
  t(x);
  src.RequireNativeCall("w", [=](const MatchContext& m) { return m[t].prem.empty(); });
}

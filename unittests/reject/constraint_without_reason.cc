// EXPECT: error: no matching (member )?function for call to .*RequireNativeCall
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.RequireNativeCall([=](const MatchContext& m) { return m[x].rank() == 2; });
}

// EXPECT: error: no matching (member )?function for call to .*Op\b
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.Op<pd::MatMul>({.transpse_x = false})(x, x);
}

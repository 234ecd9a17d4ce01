// EXPECT: error: no matching (member )?function for call to .*Op\b
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.Op<pd::MatMul>({.transpose_x = 1})(x, x);
}

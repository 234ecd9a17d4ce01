// EXPECT: wrong number of operands for this op
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.Op<ops::Add>()(x);
}

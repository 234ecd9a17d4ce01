// EXPECT: wrong number of operands for this op
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  auto x = src.Tensor("x");
  auto y = src.Op<ops::Relu>()(x);
  res.Tensor(y) = res.Op<ops::MatMul>()(x);
}

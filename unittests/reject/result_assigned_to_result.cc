// EXPECT: error: .*ResultTensor.* to .*Tensor
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  auto x = src.Tensor("x");
  auto r = res.Op<ops::Relu>()(x);
  res.Tensor(r) = x;
}

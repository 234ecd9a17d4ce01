// EXPECT: error: cannot decompose
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  auto [a, b] = src.Op<ops::Relu>()(x);
  (void)a, (void)b;
}

// EXPECT: wrong number of operands for one of these ops
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.OneOf<ops::Relu, ops::Add>()(x);
}

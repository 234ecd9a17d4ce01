// EXPECT: error: .*(‘MatMull’|'MatMull')
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  src.Op<ops::MatMull>()(x, x);
}

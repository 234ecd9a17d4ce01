// EXPECT: error: no matching (member )?function for call to .*Op\b
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  auto a = src.Attr<float>("a");
  src.Op<ops::Transpose>({.perm = a})(x);
}

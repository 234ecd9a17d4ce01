// EXPECT: this op is not among the alternatives
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  auto x = src.Tensor("x");
  auto a = src.OneOf<ops::Relu, ops::Sigmoid>();
  a(x);
  src.RequireNativeCall("w", [=](const MatchContext& m) { return m.Is<ops::Add>(a); });
}

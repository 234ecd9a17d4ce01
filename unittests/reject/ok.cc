// EXPECT: success
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  auto inner = src.Op<ops::Transpose>({.perm = p})(x);
  auto act = src.OneOf<ops::Relu, ops::Sigmoid>();
  auto product = src.Op<pd::MatMul>({.transpose_x = true})(act(inner), src.Tensor("y"));
  auto joined = src.Op<ops::Concat>({.axis = 1})(src.Op<ops::Relu>().Each(src.Tensors("xs")));
  auto chain = src.Repeat<ops::Relu, ops::Sigmoid>({.min = 1, .max = 4});
  src.Not(joined, chain(src.AnyOp(weft::ir::kElementwise)(src.Tensor("any"))));
  src.RequireNativeCall("x is a matrix", [=](const MatchContext& m) {
    return m[x].rank() == 2 && m.Is<ops::Relu>(act) && !m[p].empty();
  });
  res.Tensor(product) =
      res.Op<ops::Transpose>({.perm = [=](const MatchContext& m) { return m[p]; }})(x);
}

#include "ir/dialects/litert.h"
#include "passes/rules.h"

namespace weft::passes {

// convert(matmul(x, y), s) => matmul(x, y) quantised by s. The Convert is there because a Concat
// wants its operands in one quantisation, which the product can have itself
// (litert_graph_to_graph.md, "Matmul-convert Fusion"). Its sums are rounded once instead of twice.
// Where the first scale is no larger than the second and did not saturate the results are at most
// one step apart; elsewhere they may be far apart, and the new ones are right.
WEFT_RULE(FuseMatmulConvert, "litert", kApproximate, .seed = "litert",
          .aliases = {"matmul-convert-fuse", "matmul-convert-fusion"}) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto first_scale = src.Attr<float>("first_scale"), scale = src.Attr<float>("scale");
  auto first_zero = src.Attr<int64_t>("first_zero"), zero = src.Attr<int64_t>("zero");
  auto matmul =
      src.Op<litert::MatMul>(AnyAttrs(), {.out_scale = first_scale, .out_zero_point = first_zero});
  auto product = matmul(x, y);
  // What the product states is what the Convert starts from: each is bound twice.
  auto out = src.Op<litert::Convert>({.from_scale = first_scale,
                                      .from_zero_point = first_zero,
                                      .to = Any(),
                                      .to_scale = scale,
                                      .to_zero_point = zero})(product);
  src.Require("the element type stays", SameDType(product, out));
  res.Tensor(out) = res.Like(matmul, {.out_scale = scale, .out_zero_point = zero})(x, y);
}

}  // namespace weft::passes

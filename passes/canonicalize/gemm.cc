// Products of matrices, with what Gemm takes in besides.
#include "ir/dialects/onnx/matmul.h"
#include "passes/rules.h"

namespace weft::passes {

// matmul(a, b) + c => gemm(a, b, c), of matrices. Constant b become fused.linear, which takes a bias
// from a Gemm, but a residual from an Add only. A sum of two products may become one product of a sum
// (superopt).
WEFT_RULE(FuseMatmulIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto product = src.Op<ops::MatMul>()(a, b);
  auto out = product + src.Not(c, src.Op<ops::MatMul>()(src.Tensor("d"), src.Tensor("e")));
  src.Require(IsFloat(product), Rank(a, 2), Rank(b, 2), Broadcasts(c, product), MaxRank(c, 2));
  src.Profitable("b is no constant, or c a bias", [=](const MatchContext& m) {
    return !m[b].is_constant() || (m[c].is_constant() && m[c].rank() == 1);
  });
  res.Tensor(out) = res.Op<ops::Gemm>()(a, b, c);
}

// gemm(transpose(a), b, c) => gemm(a, b, c) with the other transA
WEFT_RULE(FoldTransposeIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto trans_a = src.Attr<int64_t>("transA");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.transA = trans_a});
  auto out = gemm(src.Op<ops::Transpose>({.perm = {1, 0}})(a), b, src.Optional(c));
  src.Profitable(NotConstant(b));  // a product with weights reads a as it lies
  res.Tensor(out) = res.Like(gemm, {.transA = IsZero(trans_a)})(a, b, c);
}

// gemm(a, transpose(b), c) => gemm(a, b, c) {transB}
WEFT_RULE(FoldTransposeOfWeightsIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.transB = 0});
  auto out = gemm(a, src.Op<ops::Transpose>({.perm = {1, 0}})(b), src.Optional(c));
  res.Tensor(out) = res.Like(gemm, {.transB = 1})(a, b, c);
}

}  // namespace weft::passes

// Products of matrices, with what Gemm takes in besides.
#include "ir/dialects/onnx/matmul.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// A product with a matrix w, of x of rank 3, whose rows are listed first.
struct RowsOf {
  Tensor x, w, flat;

  RowsOf(SourcePattern& src, const Tensor& x, const Tensor& w)
      : x(x), w(w), flat(src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("to_rows")))) {
    src.Require(Rank(x, 3), Rank(w, 2), SameDim(x, 2, flat, -1));
  }
  // In as many rows as x has.
  Tensor Back(SourcePattern& src, const Tensor& product) const {
    auto out = src.Op<ops::Reshape>(AnyAttrs())(product, src.Tensor("back"));
    src.Require(Rank(out, 3), SameDim(out, 0, x, 0), SameDim(out, 1, x, 1), SameDim(out, 2, w, 1));
    return out;
  }
};

}  // namespace

// matmul(a, b) + c => gemm(a, b, c), of matrices, and so for gemm(a, b) + c. Constant b become fused.linear, which takes a bias
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

// gemm(a, b, c) + d => gemm(a, b, c + d), c and d constants
WEFT_RULE(FoldTermIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c"), d = src.Tensor("d");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.beta = 1.0F});
  auto y = gemm(a, b, c);
  auto out = y + d;
  src.Require(SameType(y, out));
  auto sum =
      src.Let("c and d are f32 constants, one of them a number, or both of one shape", Sum(c, d));
  res.Tensor(out) = res.Like(gemm)(a, b, res.Constant(sum));
}

// gemm(a, b) + c => gemm(a, b, c), c a bias where b is constant, as of a product
WEFT_RULE(FuseTermIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.beta = 1.0F});
  auto y = gemm(a, b);
  auto out = y + c;
  src.Require(SameType(y, out), MaxRank(c, 2));
  src.Profitable("b is no constant, or c a bias", [=](const MatchContext& m) {
    return !m[b].is_constant() || (m[c].is_constant() && m[c].rank() == 1);
  });
  res.Tensor(out) = res.Like(gemm)(a, b, c);
}

// matmul(a, b) + matmul(d, e) => gemm(a, b, matmul(d, e)), of matrices, last: the sum is what superopt
// makes one product of
WEFT_RULE(FuseTwoProductsIntoGemm, "named-operators", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto product = src.Op<ops::MatMul>()(a, b);
  auto c = src.Keep(src.Op<ops::MatMul>()(src.Tensor("d"), src.Tensor("e")));
  auto out = product + c;
  src.Require(IsFloat(product), Rank(a, 2), Rank(b, 2), Broadcasts(c, product), MaxRank(c, 2));
  res.Tensor(out) = res.Op<ops::Gemm>()(a, b, c);
}

// reshape(gemm(reshape(x), w, c)) => matmul(x, w) + c, where the rows of x become those of the result
WEFT_RULE(DropReshapesAroundGemm, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), c = src.Tensor("c");
  const RowsOf rows(src, x, w);
  auto out = rows.Back(src, src.Op<ops::Gemm>()(rows.flat, w, c));
  src.Require(MaxRank(c, 1));
  res.Tensor(out) = res.Op<ops::Add>()(res.Op<ops::MatMul>()(x, w), c);
}

// reshape(matmul(reshape(x), w)) => matmul(x, w), where the rows of x become those of the result
WEFT_RULE(DropReshapesAroundMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w");
  const RowsOf rows(src, x, w);
  auto out = rows.Back(src, src.Op<ops::MatMul>()(rows.flat, w));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, w);
}

// matmul(matmul(x, w), v) => matmul(x, matmul(w, v)), w and v constants, where that is no more weights
WEFT_RULE(MergeWeightMatrices, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), v = src.Tensor("v");
  auto out = src.Op<ops::MatMul>()(src.Op<ops::MatMul>()(x, w), v);
  src.Require(IsConstant(w), Rank(w, 2), IsConstant(v), Rank(v, 2), DType(w, kF32));
  src.Profitable("the product has no more elements than both", [=](const MatchContext& m) {
    const double rows = double(m[w].dim(0)), columns = double(m[v].dim(1));
    return rows * columns <= (rows + columns) * double(m[w].dim(1));
  });
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Op<ops::MatMul>()(w, v));
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

// gemm(a, transpose(b), c) => gemm(a, b, c) with the other transB
WEFT_RULE(FoldTransposeOfWeightsIntoGemm, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto trans_b = src.Attr<int64_t>("transB");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.transB = trans_b});
  auto out = gemm(a, src.Op<ops::Transpose>({.perm = {1, 0}})(b), src.Optional(c));
  res.Tensor(out) = res.Like(gemm, {.transB = IsZero(trans_b)})(a, b, c);
}

}  // namespace weft::passes

// Matrix products with constant weights as fused.linear, which takes a bias, a residual and an activation;
// those of transposed operands as fused.batch_matmul.
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "passes/rules.h"

namespace weft::passes {

// matmul(x, w) => fused.linear(x, w), w a constant matrix
WEFT_RULE(FuseMatmul, "fuse-epilogue", kExact, .aliases = {"matmul-to-linear"}) {
  auto x = src.Tensor("x"), w = src.Tensor("w");
  auto out = src.Op<ops::MatMul>()(x, w);
  src.Require(IsConstant(w), Rank(w, 2), MinRank(x, 2), DType(x, kF32));
  res.Tensor(out) = res.Op<fused::Linear>()(x, w);
}

// gemm(a, b, c) => fused.linear(a, b, c), b constant
WEFT_RULE(FuseGemm, "fuse-epilogue", kReassociates, .aliases = {"gemm-to-linear"}) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto trans_b = src.Attr<int64_t>("transB");
  auto out = src.Op<ops::Gemm>({.transB = trans_b})(a, b, src.Optional(c));
  src.Require(IsConstant(b), Rank(b, 2), DType(b, kF32), PerChannel(IfGiven(c), out, -1));
  res.Tensor(out) = res.Op<fused::Linear>({.transpose_w = AsBool(trans_b)})(a, b, c);
}

// matmul(a, transpose(b)) => fused.batch_matmul(a, b) {perm_b}, where only the last two axes change places: a
// cache of keys is read as it lies. Products of a few rows are dot products there, summed in another order
WEFT_RULE(FuseTransposedMatmul, "fuse-epilogue", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto perm = src.Attr<Ints>("perm");
  auto out = src.Op<ops::MatMul>()(a, src.Op<ops::Transpose>({.perm = perm})(b));
  src.Require(SwapsLast(perm), DType(a, kF32), MinRank(a, 2));
  res.Tensor(out) = res.Op<fused::BatchMatMul>({.perm_b = perm})(a, b);
}

// linear(x, w) + b => linear(x, w, b)
WEFT_RULE(FuseLinearBias, "fuse-epilogue", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto transpose_w = src.Attr<bool>("transpose_w");
  auto product = src.Op<fused::Linear>({.transpose_w = transpose_w})(x, w);
  auto out = product + b;
  src.Require(IsConstant(b), PerChannel(b, product, -1));
  res.Tensor(out) = res.Op<fused::Linear>({.transpose_w = transpose_w})(x, w, b);
}

}  // namespace weft::passes

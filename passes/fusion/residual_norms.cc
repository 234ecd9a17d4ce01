// Normalisations of a sum, made on the way: the memory of x and r is passed over once.
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/matmul.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

// A product takes what is added to it.
Tensor NotAProduct(SourcePattern& src, const Tensor& t) {
  const auto any = [&](const char* name) { return src.Tensor(name); };
  auto linear = src.Op<fused::Linear>(AnyAttrs())(any("d"), any("v"), src.Optional(any("c")));
  auto matmul = src.Op<ops::MatMul>()(any("a"), any("w"));
  auto gemm = src.Op<ops::Gemm>(AnyAttrs())(any("e"), any("u"), src.Optional(any("f")));
  return src.Not(t, src.EitherOf({linear, matmul, gemm}));
}

// x + r, which others read too. A product takes a residual in before that: then nothing else reads x.
Tensor SharedSum(SourcePattern& src, const Tensor& x, const Tensor& r) {
  auto sum = NotAProduct(src, x) + NotAProduct(src, r);
  src.Require(SameType(x, r));
  return sum;
}

}  // namespace

// layer_norm(x + r) => layer_norm(x, residual r)
WEFT_RULE(FuseLayerNormResidual, "fuse-epilogue", kExact) {
  auto x = src.Tensor("x"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
  auto beta = src.Tensor("beta"), b = src.Tensor("b");
  auto norm = src.Op<fused::LayerNorm>(AnyAttrs());
  auto out = norm(x + r, gamma, src.Optional(beta), src.None(), src.Optional(b));
  src.Require(SameType(x, r));
  res.Tensor(out) = res.Like(norm)(x, gamma, beta, r, b);
}

// layer_norm(x + b, residual r) => layer_norm(x, residual r, x_bias b), where b has a number for each
// column; r + b likewise
WEFT_RULE(FuseLayerNormBias, "fuse-epilogue", kReassociates, .benefit = 1) {
  auto x = src.Tensor("x"), b = src.Tensor("b"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
  auto beta = src.Tensor("beta");
  auto axis = src.Attr<int64_t>("axis");
  auto epsilon = src.Attr<float>("epsilon");
  const auto norm = [&](const Tensor& t, const SourceOperand& residual) {
    return src.Op<fused::LayerNorm>({.axis = axis, .epsilon = epsilon})(
        t, gamma, src.Optional(beta), residual);
  };
  auto biased = NotAProduct(src, x) + b;
  auto out = src.EitherOf({norm(biased, r), norm(r, biased), norm(biased, src.None())});
  src.Require(SameAxis(x, axis, -1), PerChannel(b, x, -1));
  res.Tensor(out) =
      res.Op<fused::LayerNorm>({.axis = axis, .epsilon = epsilon})(x, gamma, beta, r, b);
}

// rms_norm(x + r) => rms_norm(x, residual r)
WEFT_RULE(FuseRmsNormResidual, "fuse-epilogue", kExact) {
  auto x = src.Tensor("x"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
  auto norm = src.Op<fused::RmsNorm>(AnyAttrs());
  auto out = norm(x + r, gamma);
  src.Require(SameType(x, r));
  res.Tensor(out) = res.Like(norm)(x, gamma, r);
}

// y = x + r, layer_norm(y) => layer_norm(x, residual r), which gives y too. Tried after the rule for a
// sum that nobody else reads.
WEFT_RULE(FuseLayerNormSum, "fuse-epilogue", kExact, .benefit = 1) {
  auto x = src.Tensor("x"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
  auto beta = src.Tensor("beta");
  auto norm = src.Op<fused::LayerNorm>(AnyAttrs());
  auto sum = SharedSum(src, x, r);
  auto out = norm(sum, gamma, src.Optional(beta));
  auto [normal, made] = Several<2>(res.Op<fused::LayerNorm>(AttrsOf(norm)), x, gamma, beta, r);
  res.Tensor(out) = normal;
  res.Tensor(sum) = made;
}

// y = x + r, rms_norm(y) => rms_norm(x, residual r), which gives y too, likewise
WEFT_RULE(FuseRmsNormSum, "fuse-epilogue", kExact, .benefit = 1) {
  auto x = src.Tensor("x"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
  auto norm = src.Op<fused::RmsNorm>(AnyAttrs());
  auto sum = SharedSum(src, x, r);
  auto out = norm(sum, gamma);
  auto [normal, made] = Several<2>(res.Op<fused::RmsNorm>(AttrsOf(norm)), x, gamma, r);
  res.Tensor(out) = normal;
  res.Tensor(sum) = made;
}

}  // namespace weft::passes

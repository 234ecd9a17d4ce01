// Matrix products and convolutions with what stands beside them, as ONNX Runtime has them in one
// operator.
#include <optional>

#include "ir/dialects/microsoft/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;
using microsoft::ConvActivation;

using MatMulForm = microsoft::FusedMatMul::Attrs<ir::Plain>;

// What a MatMul or FusedMatMul does to its operands.
MatMulForm FormOf(ir::Operation op) {
  if (op.Is<microsoft::FusedMatMul>()) return op.attrs_of<microsoft::FusedMatMul>();
  MatMulForm form;
  form.alpha = 1;
  return form;
}

// The product of a and b with what `change` makes of its form.
template <class Product, class A, class Change>
ResultTensor Changed(ResultPattern& res, const Product& product, const A& a, const Tensor& b,
                     Change change) {
  const auto part = [=](auto MatMulForm::*field) {
    return [=](const MatchContext& m) {
      MatMulForm form = FormOf(m.op(product.id()));
      change(m, &form);
      return form.*field;
    };
  };
  return res.Op<microsoft::FusedMatMul>({.alpha = part(&MatMulForm::alpha),
                                         .transA = part(&MatMulForm::transA),
                                         .transB = part(&MatMulForm::transB),
                                         .transBatchA = part(&MatMulForm::transBatchA),
                                         .transBatchB = part(&MatMulForm::transBatchB)})(a, b);
}

// A transpose of x that exchanges the last two dimensions and moves no other.
Tensor Turned(SourcePattern& src, const Tensor& x) {
  auto perm = src.Attr<Ints>("perm");
  auto turned = src.Op<ops::Transpose>({.perm = perm})(x);
  src.Require("the transpose exchanges the last two dimensions", [=](const MatchContext& m) {
    const Ints p = m[perm];
    for (size_t i = 0; i + 2 < p.size(); ++i)
      if (p[i] != static_cast<int64_t>(i)) return false;
    return p.size() > 1 && p.back() == static_cast<int64_t>(p.size()) - 2;
  });
  return src.Keep(turned);
}

// Multiplies a product by c or divides it by d, one of which is given.
auto ScaledBy(const Tensor& c, const Tensor& d) {
  return [=](const MatchContext& m, MatMulForm* form) {
    const double by = m.Has(c) ? *m[c].splat() : 1 / *m[d].splat();
    form->alpha = static_cast<float>(form->alpha * by);
  };
}

struct AppliedActivation {
  ConvActivation kind;
  Floats params;
};

// The activation that op is of its one operand; Clip has a rule of its own.
std::optional<AppliedActivation> ActivationOf(ir::Operation op) {
  if (op.Is<ops::Relu>()) return AppliedActivation{ConvActivation::kRelu, {}};
  if (op.Is<ops::Sigmoid>()) return AppliedActivation{ConvActivation::kSigmoid, {}};
  if (op.Is<ops::Tanh>()) return AppliedActivation{ConvActivation::kTanh, {}};
  if (op.Is<ops::LeakyRelu>())
    return AppliedActivation{ConvActivation::kLeakyRelu, {op.attrs_of<ops::LeakyRelu>().alpha}};
  const auto attrs = op.attrs_of<ops::HardSigmoid>();
  return AppliedActivation{ConvActivation::kHardSigmoid, {attrs.alpha, attrs.beta}};
}

}  // namespace

// matmul(transpose(a), b) => com.microsoft.FusedMatMul(a, b) {transA}
WEFT_RULE(FuseTransposeA, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto product = src.OneOf<ops::MatMul, microsoft::FusedMatMul>(AnyAttrs());
  auto out = product(Turned(src, a), b);
  src.Require(DType(a, kF32), MinRank(b, 2));
  src.Require("a is turned once", [=](const MatchContext& m) {
    const MatMulForm form = FormOf(m.op(product.id()));
    return form.transA == 0 && form.transBatchA == 0;
  });
  res.Tensor(out) = Changed(res, product, a, b, [](auto&, auto* form) { form->transA = 1; });
}

// matmul(a, transpose(b)) => com.microsoft.FusedMatMul(a, b) {transB}
WEFT_RULE(FuseTransposeB, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto product = src.OneOf<ops::MatMul, microsoft::FusedMatMul>(AnyAttrs());
  auto out = product(a, Turned(src, b));
  src.Require(DType(a, kF32), MinRank(a, 2));
  src.Require("b is turned once", [=](const MatchContext& m) {
    const MatMulForm form = FormOf(m.op(product.id()));
    return form.transB == 0 && form.transBatchB == 0;
  });
  res.Tensor(out) = Changed(res, product, a, b, [](auto&, auto* form) { form->transB = 1; });
}

// matmul(a, b) * c => com.microsoft.FusedMatMul(a, b) {alpha = c}; likewise / d
WEFT_RULE(FuseMatmulScale, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c"), d = src.Tensor("d");
  auto product = src.OneOf<ops::MatMul, microsoft::FusedMatMul>(AnyAttrs());
  auto y = product(a, b);
  auto out = src.Either(y * c, y / d);
  src.Require(DType(a, kF32), MinRank(a, 2), MinRank(b, 2), SameType(out, y));
  src.Require(NonZero(IfGiven(c)), NonZero(IfGiven(d)));
  res.Tensor(out) = Changed(res, product, a, b, ScaledBy(c, d));
}

// matmul(reshape(a * c), b) => com.microsoft.FusedMatMul(reshape(a), b) {alpha = c}, whatever moves it;
// / d likewise
WEFT_RULE(FuseMatmulScaledOperand, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c"), d = src.Tensor("d");
  auto product = src.OneOf<ops::MatMul, microsoft::FusedMatMul>(AnyAttrs());
  auto scaled = src.Either(a * c, a / d);
  auto moves = src.Repeat<ops::Reshape, ops::Transpose>(AnyAttrs(), {.max = 2});
  auto moved = moves(src.Keep(scaled));
  auto out = product(src.Recompute(moved), b);
  src.Require(DType(a, kF32), MinRank(moved, 2), MinRank(b, 2), SameType(scaled, a));
  src.Require(NonZero(IfGiven(c)), NonZero(IfGiven(d)));
  res.Tensor(out) = Changed(res, product, res.Like(moves)(a), b, ScaledBy(c, d));
}

// a(conv(x, w, b)) => com.microsoft.FusedConv(x, w, b) {activation = a}
WEFT_RULE(FuseConvActivationForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto a =
      src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::LeakyRelu, ops::HardSigmoid>(AnyAttrs());
  auto out = a(conv(x, w, src.Optional(b)));
  src.Require(DType(x, kF32), Rank(x, 4));
  auto applied = src.Let("it is an activation",
                         [=](const MatchContext& m) { return ActivationOf(m.op(a.id())); });
  res.Tensor(out) = res.Op<microsoft::FusedConv>(
      AttrsOf(conv), {.activation = applied[&AppliedActivation::kind],
                      .activation_params = applied[&AppliedActivation::params]})(x, w, b);
}

// clip(conv(x, w, b), low, high) => com.microsoft.FusedConv(x, w, b) {activation = Clip}
WEFT_RULE(FuseConvClipForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto low = src.Tensor("low"), high = src.Tensor("high");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto out =
      src.Op<ops::Clip>()(conv(x, w, src.Optional(b)), src.Optional(low), src.Optional(high));
  src.Require(DType(x, kF32), Rank(x, 4), IsUniform(IfGiven(low)), IsUniform(IfGiven(high)));
  res.Tensor(out) = res.Op<microsoft::FusedConv>(
      AttrsOf(conv),
      {.activation = ConvActivation::kClip, .activation_params = BoundsOf(low, high)})(x, w, b);
}

// relu(conv(x, w, b) + z) => com.microsoft.FusedConv(x, w, b, z) {activation = Relu}
WEFT_RULE(FuseConvSumForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), z = src.Tensor("z");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = src.Op<ops::Relu>()(y + z);
  src.Require(DType(x, kF32), Rank(x, 4), SameType(y, z));
  res.Tensor(out) = res.Op<microsoft::FusedConv>(AttrsOf(conv),
                                                 {.activation = ConvActivation::kRelu})(x, w, b, z);
}

}  // namespace weft::passes

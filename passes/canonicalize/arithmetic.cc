// Identities of arithmetic, most of them from ai_system_graph_optimization.md (5.2.1). A constant
// operand may be expanded (X * Broadcast(1)), as long as x itself is not.
#include <optional>

#include "drr/rule/constant_f32.h"
#include "ir/dialects/onnx/matmul.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// The zero that is added to x, or taken from it, has this sign where it is a float:
//
//   -0 + (+0) = +0    -0 - (-0) = +0       these zeros change a sign
//   -0 + (-0) = -0    -0 - (+0) = -0       these change no bit of any x
Tensor DropZero(SourcePattern& src, ResultPattern& res, int sign_if_added) {
  auto x = src.Tensor("x"), added = src.Tensor("added"), subtracted = src.Tensor("subtracted");
  auto out = src.Either(x + src.Skip<ops::Expand>(added), x - src.Skip<ops::Expand>(subtracted));
  src.Require(SignedZero(IfGiven(added), sign_if_added),
              SignedZero(IfGiven(subtracted), -sign_if_added), SameType(x, out));
  res.Tensor(out) = x;
  return x;
}

// The zero takes the shape of the result, which is that of x or larger, as a Broadcast: whether it
// is written out is up to constant-folding, which knows what that costs.
Tensor FoldZero(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto out = x * src.Skip<ops::Expand>(src.Splat(0));
  src.Require(StaticShape(out));
  res.Tensor(out) =
      res.Op<ops::Expand>()(res.Constant(ScalarLike(x, 0)), res.ConstantInts(ShapeOf(out)));
  return x;
}

// out = (x . a) . b => x . c, where c is a and b joined.
template <class Op>
void JoinConstants(SourcePattern& src, ResultPattern& res, const Tensor& x, const Tensor& out,
                   const Expression<ir::Attribute>& c) {
  auto joined = src.Let("a and b are f32 constants, one of them a number, or both of one shape", c);
  res.Tensor(out) = res.Op<Op>()(x, res.Constant(joined));
}

// The same of one operation.
template <class Op>
void MergeConstants(SourcePattern& src, ResultPattern& res,
                    Expression<ir::Attribute> (*join)(Tensor, Tensor, SourceLoc)) {
  auto x = src.Tensor("x"), a = src.Tensor("a"), b = src.Tensor("b");
  auto out = src.Op<Op>()(src.Op<Op>()(x, a), b);
  JoinConstants<Op>(src, res, x, out, join(a, b, SourceLoc::Here()));
}

}  // namespace

// x * 1, 1 * x, x / 1 => x
WEFT_RULE(DropUnitFactor, "canonicalize", kExact, .seed = "ai-system",
          .aliases = {"remove-unit-factor"}) {
  auto x = src.Tensor("x");
  auto out = src.OneOf<ops::Mul, ops::Div>()(x, src.Skip<ops::Expand>(src.Splat(1)));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// pow(x, 1) => x, also where the exponent is of another element type
WEFT_RULE(DropUnitExponent, "canonicalize", kExact, .seed = "ai-system",
          .aliases = {"remove-unit-exponent"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Pow>()(x, src.Skip<ops::Expand>(src.Splat(1)));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// pow(x, 1/2) => sqrt(x), of f32 and f64: not of minus infinity, whose square root is NaN, nor of -0
WEFT_RULE(FoldSquareRootPower, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Pow>()(x, src.Skip<ops::Expand>(src.Splat(0.5)));
  src.Require(IsFloat(x), SameType(x, out));
  res.Tensor(out) = res.Op<ops::Sqrt>()(x);
}

// x + -0, -0 + x, x - +0 => x; of integers x + 0, 0 + x, x - 0 => x
WEFT_RULE(DropNeutralZero, "canonicalize", kExact, .seed = "ai-system",
          .aliases = {"remove-neutral-zero"}) {
  DropZero(src, res, -1);
}

// x + +0, +0 + x, x - -0 => x, of floats: a -0 in x stays
WEFT_RULE(DropZeroTerm, "canonicalize", kReassociates, .seed = "ai-system",
          .aliases = {"remove-zero-term"}) {
  src.Require(IsFloat(DropZero(src, res, 1)));
}

// integer x * 0, 0 * x => expand(0)
WEFT_RULE(FoldIntegerZeroProduct, "canonicalize", kExact, .seed = "ai-system") {
  src.Require(IsInteger(FoldZero(src, res)));
}

// float x * 0, 0 * x => expand(0), approximate: NaN * 0 and inf * 0 are NaN, -3 * 0 is -0. Of
// constants folding computes the product.
WEFT_RULE(FoldZeroProduct, "canonicalize", kApproximate, .seed = "ai-system") {
  auto x = FoldZero(src, res);
  src.Require(IsFloat(x), NotConstant(x));
}

// log(exp(x) / y) => x - log(y). Approximate: the result is finite where exp(x) overflows or the
// quotient underflows (log(exp(100) / 2) is inf in f32, x - log(y) is 99.3), and inf instead of NaN
// at y = -0. Else it differs by rounding: 1e-5 for |x| <= 80 and y in (1e-3, 1e3). Negative y give
// NaN before and after.
WEFT_RULE(FoldLogOfExpQuotient, "canonicalize", kApproximate, .seed = "ai-system",
          .aliases = {"log-of-exp-quotient"}) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto out = src.Op<ops::Log>()(src.Op<ops::Exp>()(x) / y);
  // Its logarithm is a constant only later, a term that none takes in.
  src.Profitable(NotConstant(y));
  res.Tensor(out) = res.Op<ops::Sub>()(x, res.Op<ops::Log>()(y));
}

// x - c => x + -c, c an f32 constant: what merges terms, or takes them in, asks for sums only
WEFT_RULE(FoldSignIntoTerm, "canonicalize", kExact) {
  auto x = src.Tensor("x"), c = src.Tensor("c");
  auto out = x - c;
  auto negative =
      src.Let("c is an f32 constant", [=](const MatchContext& m) -> std::optional<ir::Attribute> {
        const auto numbers = ConstantF32(m[c]);
        if (!numbers) return std::nullopt;
        return MakeF32(m.context(), m[c].shape(), [&](int64_t i) { return -(*numbers)[i]; });
      });
  src.Profitable("c is one number, or nothing else uses it", [=](const MatchContext& m) {
    return m[c].type().NumElements() == 1 || m[c].value().HasOneUse();
  });
  res.Tensor(out) = res.Op<ops::Add>()(x, res.Constant(negative));
}

// (x + a) + b => x + (a + b), a and b constants
WEFT_RULE(MergeConstantTerms, "canonicalize", kReassociates) {
  MergeConstants<ops::Add>(src, res, Sum);
}

// (x * a) * b => x * (a * b), a and b constants
WEFT_RULE(MergeConstantFactors, "canonicalize", kReassociates) {
  MergeConstants<ops::Mul>(src, res, Product);
}

// (x / a) / b => x / (a * b), a and b constants
WEFT_RULE(MergeConstantDivisors, "canonicalize", kReassociates) {
  MergeConstants<ops::Div>(src, res, Product);
}

// (x * a) / b, (x / b) * a => x * (a / b), a and b constants
WEFT_RULE(FoldDivisorIntoFactor, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), a = src.Tensor("a"), b = src.Tensor("b");
  auto out = src.Either(x * a / b, x / b * a);
  JoinConstants<ops::Mul>(src, res, x, out, Quotient(a, b));
}

// (x . w + b) * s => (x . w) * s + b * s, w, b and s constants: the product takes in s
WEFT_RULE(SinkTermBehindFactor, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto f = src.OneOf<ops::Mul, ops::MatMul>();
  auto y = f(x, w);
  auto out = (y + b) * s;
  src.Require(IsConstant(w), SameType(y, out));
  src.Profitable(OnlyUser(w, y));
  auto scaled = src.Let("b and s are f32 constants, one of them a number, or both of one shape",
                        Product(b, s));
  res.Tensor(out) =
      res.Op<ops::Add>()(res.Op<ops::Mul>()(res.Like(f)(x, w), s), res.Constant(scaled));
}

// a * b + a * c => a * (b + c), b and c of one shape
WEFT_RULE(FoldCommonFactor, "canonicalize", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto out = a * b + a * c;
  src.Require(IsFloat(a), SameShape(b, c));
  res.Tensor(out) = res.Op<ops::Mul>()(a, res.Op<ops::Add>()(b, c));
}

// (x + a) + (y + b) => (x + y) + (a + b), a and b constants, which are added once. What may take in its own
// term, an op of two or three operands or a constant, keeps it.
WEFT_RULE(MergeConstantTermsOfTwo, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), y = src.Tensor("y"), a = src.Tensor("a"), b = src.Tensor("b");
  const auto alone = [&](const Tensor& t, const char* of, const char* by, const char* with) {
    auto p = src.Tensor(of), q = src.Tensor(by), r = src.Tensor(with);
    return src.Not(t, src.EitherOf({src.AnyOp("builtin.constant")(), src.AnyOp()(p, q),
                                    src.AnyOp()(p, q, r)}));
  };
  auto out = (alone(x, "c", "d", "e") + a) + (alone(y, "f", "g", "h") + b);
  src.Require(IsFloat(x), IsConstant(a), IsConstant(b), SameType(x, y), SameType(x, out));
  res.Tensor(out) = res.Op<ops::Add>()(res.Op<ops::Add>()(x, y), res.Op<ops::Add>()(a, b));
}

// x * (1 / y), x * reciprocal(y) => x / y, of one shape: the reciprocal of a smaller y pays
WEFT_RULE(FoldReciprocal, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto out = x * src.Either(src.Splat(1) / y, src.Op<ops::Reciprocal>()(y));
  src.Require(IsFloat(y), SameType(x, y), SameType(out, y));
  res.Tensor(out) = res.Op<ops::Div>()(x, y);
}

// identity(x) => x
WEFT_RULE(DropIdentity, "canonicalize", kExact, .aliases = {"remove-identity"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Identity>()(x);
  res.Tensor(out) = x;
}

// dropout(x) => x, not training
WEFT_RULE(DropDropout, "canonicalize", kExact, .aliases = {"remove-dropout"}) {
  auto x = src.Tensor("x"), ratio = src.Tensor("ratio"), training = src.Tensor("training_mode");
  auto out = src.Op<ops::Dropout>(AnyAttrs())(x, src.Optional(ratio), src.Optional(training));
  src.Require(IsSplat(IfGiven(training), 0));
  res.Tensor(out) = x;
}

}  // namespace weft::passes

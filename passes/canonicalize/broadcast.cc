// Elementwise ops broadcast by themselves: an Expand in front of one is needed only where it makes the
// shape of the result.
#include "ir/dialects/onnx/math.h"           // Mod
#include "ir/dialects/onnx/nn/activation.h"  // PRelu
#include "passes/rules.h"

namespace weft::passes {
namespace {

constexpr char kMakeTheShape[] = "x and y make the shape of the result without it";

}  // namespace

// f(expand(x, s), y) => f(x, y), operands of f in either order where it commutes
WEFT_RULE(DropExpandedOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f =
      src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::And, ops::Or, ops::Xor, ops::Equal,
                ops::Greater, ops::GreaterOrEqual, ops::Less, ops::LessOrEqual, ops::Pow, ops::Mod>(
          AnyAttrs());
  auto out = f(src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))), y);
  src.Require(kMakeTheShape, BroadcastTogether(x, y, out));
  res.Tensor(out) = res.Like(f)(x, y);
}

// max(expand(x, s), y) => max(x, y), and so for min, in either order: of -0 and 0 it may be the other
WEFT_RULE(DropExpandedExtremum, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f = src.OneOf<ops::Min, ops::Max>();
  auto out = f(src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))), y);
  src.Require(kMakeTheShape, BroadcastTogether(x, y, out));
  res.Tensor(out) = res.Like(f)(x, y);
}

// f(y, expand(x, s)) => f(y, x), where f does not commute
WEFT_RULE(DropExpandedSecondOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f = src.OneOf<ops::Sub, ops::Div, ops::Greater, ops::GreaterOrEqual, ops::Less,
                     ops::LessOrEqual, ops::Pow, ops::Mod, ops::PRelu>(AnyAttrs());
  auto out = f(y, src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))));
  src.Require(kMakeTheShape, BroadcastTogether(x, y, out));
  res.Tensor(out) = res.Like(f)(y, x);
}

// where(expand(c, s), x, y) => where(c, x, y)
WEFT_RULE(DropExpandedCondition, "canonicalize", kExact) {
  auto c = src.Tensor("c"), x = src.Tensor("x"), y = src.Tensor("y");
  auto out = src.Op<ops::Where>()(src.Keep(src.Op<ops::Expand>()(c, src.Tensor("sizes"))), x, y);
  src.Require(kMakeTheShape, BroadcastTogether(x, y, out));
  res.Tensor(out) = res.Op<ops::Where>()(c, x, y);
}

// where(c, expand(x, s), y) => where(c, x, y)
WEFT_RULE(DropExpandedChoice, "canonicalize", kExact) {
  auto c = src.Tensor("c"), x = src.Tensor("x"), y = src.Tensor("y");
  auto out = src.Op<ops::Where>()(c, src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))), y);
  src.Require("c and y make the shape of the result without it", BroadcastTogether(c, y, out));
  res.Tensor(out) = res.Op<ops::Where>()(c, x, y);
}

// where(c, x, expand(y, s)) => where(c, x, y)
WEFT_RULE(DropExpandedOtherChoice, "canonicalize", kExact) {
  auto c = src.Tensor("c"), x = src.Tensor("x"), y = src.Tensor("y");
  auto out = src.Op<ops::Where>()(c, x, src.Keep(src.Op<ops::Expand>()(y, src.Tensor("sizes"))));
  src.Require("c and x make the shape of the result without it", BroadcastTogether(c, x, out));
  res.Tensor(out) = res.Op<ops::Where>()(c, x, y);
}

}  // namespace weft::passes

// Ops that give an operand back, and pairs of ops that undo or repeat each other.
#include "ir/dialects/onnx/math.h"  // Sign, Floor, Ceil, Round
#include "ir/dialects/onnx/nn/image.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {

// expand(x, s), tile(x, n) => x, where that is of the shape of x
WEFT_RULE(DropNoopExpand, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.OneOf<ops::Expand, ops::Tile>()(x, src.Tensor("sizes"));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// split(x) => x, into one part
WEFT_RULE(DropNoopSplit, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = Several<1>(src.Op<ops::Split>(AnyAttrs()), x, src.Optional(src.Tensor("sizes")));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// expand(expand(x, s), t) => expand(x, shape of the result)
WEFT_RULE(MergeExpands, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<ops::Expand>()(x, src.Tensor("s")));
  auto out = src.Op<ops::Expand>()(inner, src.Tensor("t"));
  src.Require(StaticShape(out));
  res.Tensor(out) = res.Op<ops::Expand>()(x, res.ConstantInts(ShapeOf(out)));
}

// gather(x, [0, 1, ..]) => x, where that is all of it
WEFT_RULE(DropNoopGather, "canonicalize", kExact) {
  auto x = src.Tensor("x"), indices = src.Tensor("indices");
  auto out = src.Op<ops::Gather>(AnyAttrs())(x, indices);
  src.Require(SameType(x, out), Rank(indices, 1));
  src.Require("the indices count from 0", IsIdentity(indices));
  res.Tensor(out) = x;
}

// pad(x, zeros) => x, in any mode
WEFT_RULE(DropNoopPad, "canonicalize", kExact) {
  auto x = src.Tensor("x"), pads = src.Tensor("pads");
  auto out = src.Op<ops::Pad>(AnyAttrs())(x, pads, src.Optional(src.Tensor("value")),
                                          src.Optional(src.Tensor("axes")));
  src.Require(IsSplat(pads, 0));
  res.Tensor(out) = x;
}

// sum(x), min(x), max(x) => x, of one operand
WEFT_RULE(DropLoneOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.OneOf<ops::Sum, ops::Min, ops::Max>()(x);
  res.Tensor(out) = x;
}

// clip(x) => x, without bounds
WEFT_RULE(DropBoundlessClip, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Clip>()(x);
  res.Tensor(out) = x;
}

// and(x, x), or(x, x), min(x, x), max(x, x) => x
WEFT_RULE(DropEqualOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.OneOf<ops::And, ops::Or, ops::Min, ops::Max>()(x, x);
  res.Tensor(out) = x;
}

// where(c, x, x) => x, unless c is what makes the shape
WEFT_RULE(DropUniformWhere, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Where>()(src.Tensor("c"), x, x);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// where(true, x, y), where(false, y, x) => x
WEFT_RULE(DropDecidedWhere, "canonicalize", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto where = src.Op<ops::Where>();
  auto yes = src.Op<ops::Where>()(src.Splat(1), x, y), no = where(src.Splat(0), y, x);
  auto out = src.Either(yes, no);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// where(not c, x, y) => where(c, y, x)
WEFT_RULE(FoldNotIntoWhere, "canonicalize", kExact) {
  auto c = src.Tensor("c"), x = src.Tensor("x"), y = src.Tensor("y");
  auto out = src.Op<ops::Where>()(src.Op<ops::Not>()(c), x, y);
  res.Tensor(out) = res.Op<ops::Where>()(c, y, x);
}

// not(not x), neg(neg x) => x
WEFT_RULE(DropDoubleNegation, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto negated = src.Keep(src.Op<ops::Neg>()(x)), denied = src.Keep(src.Op<ops::Not>()(x));
  auto out = src.Either(src.Op<ops::Neg>()(negated), src.Op<ops::Not>()(denied));
  res.Tensor(out) = x;
}

// f(f(x)) => f(x), where the second changes nothing any more
WEFT_RULE(DropRepeatedOp, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  const auto idempotent = [&] {
    return src.OneOf<ops::Relu, ops::Abs, ops::Sign, ops::Floor, ops::Ceil, ops::Round>();
  };
  auto first = idempotent(), second = idempotent();
  auto once = src.Keep(first(x));
  auto out = second(once);
  src.Require("both are the same operator", SameOp(once, out));
  res.Tensor(out) = once;
}

// dropout(x, 0, training) => x
WEFT_RULE(DropZeroDropout, "canonicalize", kExact) {
  auto x = src.Tensor("x"), ratio = src.Tensor("ratio");
  auto out = src.Op<ops::Dropout>(AnyAttrs())(x, ratio, src.Optional(src.Tensor("training_mode")));
  src.Require(IsSplat(ratio, 0));
  res.Tensor(out) = x;
}

// resize(x, roi, scales, sizes) => resize(x, scales, sizes): only crops read roi. Not exact, as the kernels for
// empty operands compute in double.
WEFT_RULE(DropUnreadRoi, "canonicalize", kReassociates) {
  using Mode = ops::CoordinateMode;
  auto x = src.Tensor("x"), scales = src.Tensor("scales"), sizes = src.Tensor("sizes");
  auto resize = src.Op<ops::Resize>(
      AnyAttrs(), {.coordinate_transformation_mode =
                       In{Mode::kHalfPixel, Mode::kPytorchHalfPixel, Mode::kAlignCorners,
                          Mode::kAsymmetric, Mode::kTfHalfPixelForNn, Mode::kHalfPixelSymmetric}});
  auto out = resize(x, src.Tensor("roi"), src.Optional(scales), src.Optional(sizes));
  res.Tensor(out) = res.Like(resize)(x, res.None(), scales, sizes);
}

// resize(x, scales, sizes) => resize(x, sizes), scales empty; likewise
WEFT_RULE(DropEmptyScales, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), roi = src.Tensor("roi");
  auto scales = src.Tensor("scales"), sizes = src.Tensor("sizes");
  auto resize = src.Op<ops::Resize>(AnyAttrs());
  auto out = resize(x, src.Optional(roi), scales, sizes);
  src.Require(Dim(scales, 0, 0));
  res.Tensor(out) = res.Like(resize)(x, roi, res.None(), sizes);
}

}  // namespace weft::passes

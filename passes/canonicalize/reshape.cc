// Reshapes, and the computation of their targets.
#include "ir/dialects/onnx/reduce.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// x in another shape, by an op that is no Reshape.
Tensor OtherView(SourcePattern& src, const Tensor& x, const char* axes) {
  return src.Either(src.OneOf<ops::Squeeze, ops::Unsqueeze>()(x, src.Tensor(axes)),
                    src.OneOf<ops::Flatten, ops::Squeeze>(AnyAttrs())(x));
}

// Two in a row, not both Reshape.
Tensor TwoViews(SourcePattern& src, const Tensor& x) {
  auto reshaped = src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("s"));
  auto viewed = src.Keep(OtherView(src, x, "a"));
  return src.Either(src.Op<ops::Reshape>(AnyAttrs())(viewed, src.Tensor("t")),
                    OtherView(src, src.Keep(src.Either(reshaped, OtherView(src, x, "c"))), "b"));
}

}  // namespace

// reshape(x, shape of x) => x
WEFT_RULE(DropNoopReshape, "canonicalize", kExact, .aliases = {"remove-noop-reshape"}) {
  auto x = src.Tensor("x"), shape = src.Tensor("shape");
  auto out = src.Op<ops::Reshape>(AnyAttrs())(x, shape);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// reshape(reshape(x, s), t) => reshape(x, t), with the shape itself for t: a 0 or -1 in t would mean
// another thing for x.
WEFT_RULE(MergeReshapes, "canonicalize", kExact, .aliases = {"compose-reshapes"}) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(inner, t);
  src.Require(NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// reshape(transpose(x, p), s) => reshape(x, shape), where only sizes of 1 move
WEFT_RULE(FoldUnitTransposeIntoReshape, "canonicalize", kExact) {
  auto x = src.Tensor("x"), s = src.Tensor("s");
  auto p = src.Attr<Ints>("p");
  auto moved = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(moved, s);
  src.Require(OnlyUnitDimsMove(x, p), NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// reshape(reshape(x, s), t) => reshape(x, t) {allowzero}, with the shape itself for t, of tensors without
// elements too
WEFT_RULE(MergeReshapesOfNothing, "canonicalize", kExact) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
  auto out = src.Op<ops::Reshape>({.allowzero = 1})(inner, t);
  src.Require(StaticShape(out));
  res.Tensor(out) = res.Op<ops::Reshape>({.allowzero = 1})(x, res.ConstantInts(ShapeOf(out)));
}

// reshape(reshape(x, s), t) => reshape(x, t), where t is known and copies only sizes that x has too
WEFT_RULE(MergeReshapesByTarget, "canonicalize", kExact) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
  auto out = src.Op<ops::Reshape>({.allowzero = 0})(inner, t);
  src.Require(ReshapesCompose(x, inner, t));
  res.Tensor(out) = res.Op<ops::Reshape>({.allowzero = 0})(x, t);
}

// reshape(reshape(x, s), t) => x, where t is the shape of x, also when that is not known as numbers
WEFT_RULE(DropReshapeBack, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("s")));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(inner, src.Tensor("t"));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// flatten(x), squeeze(x) => x, where that keeps the shape
WEFT_RULE(DropNoopView, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = OtherView(src, x, "axes");
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// squeeze(reshape(x, s), a) => reshape(x, shape), and so for any two of Reshape, Squeeze, Unsqueeze
// and Flatten
WEFT_RULE(MergeViews, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = TwoViews(src, x);
  src.Require(NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// squeeze(unsqueeze(x, a), a) => x, and so for any two of them that give the shape of x again
WEFT_RULE(DropViewBack, "canonicalize", kExact, .benefit = 4) {
  auto x = src.Tensor("x");
  auto out = TwoViews(src, x);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// squeeze(squeeze(x, a), b) => squeeze(x, c), whatever the sizes
WEFT_RULE(MergeSqueezes, "canonicalize", kExact, .benefit = 3) {
  auto x = src.Tensor("x"), a = src.Tensor("a"), b = src.Tensor("b");
  auto inner = src.Keep(src.Op<ops::Squeeze>()(x, a));
  auto out = src.Op<ops::Squeeze>()(inner, b);
  auto axes = src.Let("the axes are constants", JoinAxes(a, x, b, inner));
  res.Tensor(out) = res.Op<ops::Squeeze>()(x, res.ConstantInts(axes));
}

// unsqueeze(unsqueeze(x, a), b) => unsqueeze(x, c), whatever the sizes
WEFT_RULE(MergeUnsqueezes, "canonicalize", kExact, .benefit = 3) {
  auto x = src.Tensor("x"), a = src.Tensor("a"), b = src.Tensor("b");
  auto inner = src.Keep(src.Op<ops::Unsqueeze>()(x, a));
  auto out = src.Op<ops::Unsqueeze>()(inner, b);
  auto axes = src.Let("the axes are constants", JoinAxes(b, out, a, inner));
  res.Tensor(out) = res.Op<ops::Unsqueeze>()(x, res.ConstantInts(axes));
}

// unsqueeze(reduce(x, axes, keepdims = 0), axes) => reduce(x, axes, keepdims = 1)
WEFT_RULE(FoldUnsqueezeIntoReduce, "canonicalize", kExact) {
  auto x = src.Tensor("x"), put_back = src.Tensor("put_back");
  auto axes = src.Attr<Ints>("axes");
  auto reduce =
      src.OneOf<ops::ReduceMean, ops::ReduceMax, ops::ReduceMin, ops::ReduceSum, ops::ReduceProd,
                ops::ReduceL1, ops::ReduceL2, ops::ReduceSumSquare, ops::ReduceLogSum,
                ops::ReduceLogSumExp>(AnyAttrs(), {.axes = axes, .keepdims = 0});
  auto out = src.Op<ops::Unsqueeze>()(reduce(x), put_back);
  src.Require("the axes that come back are those that went", SameAxes(axes, x, put_back, out));
  res.Tensor(out) = res.Like(reduce, {.keepdims = 1})(x);
}

// reshape(x, s) => reshape(x, constant), where s follows from the sizes of x. The small ops that
// computed s are erased with it. The document (ascend_knowledge_base.md, DynamicReshape) compares a
// few runs and believes what they have in common; here every entry follows from the symbolic sizes
// of the types, for all sizes.
WEFT_RULE(FoldDynamicReshape, "canonicalize", kExact, .seed = "ascend",
          .aliases = {"dynamic-reshape"}) {
  auto x = src.Tensor("x"), s = src.Tensor("s");
  auto out = src.Op<ops::Reshape>({.allowzero = 0})(x, s);
  src.Profitable(NotConstant(s));
  auto target = src.Let(
      "every size is a number or x's at that place, but for one at most that follows from the "
      "others",
      SizesIn(s, x));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(target));
}

// expand(x, s) => expand(x, constant), where each size that s computes is that of x at its place, for which
// 1 will do. Before an Expand that does nothing is dropped, which may be seen only then.
WEFT_RULE(FoldDynamicExpand, "canonicalize", kExact, .benefit = 2) {
  auto x = src.Tensor("x"), s = src.Tensor("s");
  auto out = src.Op<ops::Expand>()(x, s);
  src.Profitable(NotConstant(s));
  auto sizes = src.Let("every size is a number, or x's at that place", ExpandSizesIn(s, x));
  res.Tensor(out) = res.Op<ops::Expand>()(x, res.ConstantInts(sizes));
}

// shape(x) => the sizes of x, from start to end: the one op that is a constant though its operand is
// none (ai_system_graph_optimization.md, 5.2.3). A size that is not asked for may be a symbol.
WEFT_RULE(FoldStaticShape, "canonicalize", kExact) {
  auto out = src.Op<ops::Shape>(AnyAttrs())(src.Tensor("x"));
  auto sizes = src.Let("the sizes are numbers", SizesIn(out));
  res.Tensor(out) = res.ConstantInts(sizes);
}

}  // namespace weft::passes

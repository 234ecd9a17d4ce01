// Reductions that do nothing, follow on each other, or look only for the largest.
#include "ir/dialects/onnx/reduce.h"

#include "ir/dialects/onnx/math.h"  // Mean
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/search.h"
#include "passes/rules.h"

namespace weft::passes {
// reduce(x, axes) => x, of axes of size 1 that stay
WEFT_RULE(DropNoopReduce, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto out =
      src.OneOf<ops::ReduceMean, ops::ReduceMax, ops::ReduceMin, ops::ReduceSum, ops::ReduceProd>(
          AnyAttrs())(x);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// mean(x) => x, of one operand: a -0 in x stays
WEFT_RULE(DropLoneMean, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Mean>()(x);
  res.Tensor(out) = x;
}

// reduce(reduce(x, a), b) => reduce(x, c), of one operator: not a sum of squares, which makes
// something else of its own result. A mean of integers rounds each time.
WEFT_RULE(MergeReductions, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto keepdims = src.Attr<int64_t>("keepdims");
  const auto reduction = [&](const Attr<Ints>& axes) {
    return src.OneOf<ops::ReduceMean, ops::ReduceMax, ops::ReduceMin, ops::ReduceSum,
                     ops::ReduceProd, ops::ReduceL1, ops::ReduceL2, ops::ReduceLogSumExp>(
        AnyAttrs(), {.axes = axes, .keepdims = keepdims});
  };
  auto a = src.Attr<Ints>("a"), b = src.Attr<Ints>("b");
  auto second = reduction(b);
  auto inner = reduction(a)(x);
  auto out = second(inner);
  src.Require(IsFloat(x));
  src.Require("both are the same operator", SameOp(inner, out));
  auto axes = src.Let("the axes are known", JoinAxes(a, x, b, inner, keepdims));
  res.Tensor(out) = res.Like(second, {.axes = axes})(x);
}

// argmax(softmax(x, axis), axis) => argmax(x, axis). Where softmax rounds different numbers to one, the
// result is that of real arithmetic.
WEFT_RULE(DropSoftmaxBeforeArgMax, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto axis = src.Attr<int64_t>("axis"), of = src.Attr<int64_t>("of");
  auto search = src.OneOf<ops::ArgMax, ops::ArgMin>(AnyAttrs(), {.axis = of});
  auto out = search(src.OneOf<ops::Softmax, ops::LogSoftmax>(AnyAttrs(), {.axis = axis})(x));
  src.Require(SameAxis(x, axis, of));
  res.Tensor(out) = res.Like(search)(x);
}

// argmax(exp(x)) => argmax(x). Where exp rounds different numbers to one, or to infinity, the result is
// that of real arithmetic.
WEFT_RULE(DropExpBeforeArgMax, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto search = src.OneOf<ops::ArgMax, ops::ArgMin>(AnyAttrs());
  auto out = search(src.Op<ops::Exp>()(x));
  res.Tensor(out) = res.Like(search)(x);
}

}  // namespace weft::passes

// Reductions that do nothing, follow on each other, or look only for the largest.
#include "ir/dialects/onnx/reduce.h"

#include <algorithm>
#include <optional>

#include "ir/dialects/onnx/math.h"  // Mean
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/search.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// The axes of x that are gone after both of two reductions; nothing where a list or the rank of x is not
// known. Those of the second count what the first leaves, which is all of x if it keeps its axes.
std::optional<Ints> JoinAxes(const BoundTensor& x, const ops::ReduceMean::Attrs<ir::Plain>& first,
                             const std::optional<Ints>& second) {
  if (!x.has_rank() || !first.axes || first.axes->empty() || !second || second->empty())
    return std::nullopt;
  Ints gone, left;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const auto is_gone = [&](int64_t a) { return a == axis || a + x.rank() == axis; };
    const bool goes = std::any_of(first.axes->begin(), first.axes->end(), is_gone);
    if (goes) gone.push_back(axis);
    if (!goes || first.keepdims != 0) left.push_back(axis);
  }
  const auto rank = static_cast<int64_t>(left.size());
  for (const int64_t axis : *second) {
    const int64_t at = axis + (axis < 0 ? rank : 0);
    if (at < 0 || at >= rank) return std::nullopt;
    gone.push_back(left[at]);
  }
  std::sort(gone.begin(), gone.end());
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  return gone;
}

}  // namespace

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

// reduce(reduce(x, a), b) => reduce(x, c), of one operator
WEFT_RULE(MergeReductions, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto keepdims = src.Attr<int64_t>("keepdims");
  const auto reduction = [&] {
    return src
        .OneOf<ops::ReduceMean, ops::ReduceMax, ops::ReduceMin, ops::ReduceSum, ops::ReduceProd>(
            AnyAttrs(), {.keepdims = keepdims});
  };
  auto first = reduction(), second = reduction();
  auto out = second(first(x));
  src.Require("both are the same operator", [=](const MatchContext& m) {
    return m.op(first.id()).opcode() == m.op(second.id()).opcode();
  });
  auto axes = src.Let("the axes and the rank are known", [=](const MatchContext& m) {
    return JoinAxes(m[x], m.As<ops::ReduceMean>(first), m.As<ops::ReduceMean>(second).axes);
  });
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

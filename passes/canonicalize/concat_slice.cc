#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "passes/rules.h"

namespace weft::passes {
namespace {

struct SliceOperands {
  Tensor starts, ends, axes, steps;  // axes and steps may be absent
};

SliceOperands Operands(SourcePattern& src, const std::string& of) {
  return {src.Tensor(of + "starts"), src.Tensor(of + "ends"), src.Tensor(of + "axes"),
          src.Tensor(of + "steps")};
}

Tensor Slice(SourcePattern& src, const Tensor& x, const SliceOperands& s) {
  return src.Op<ops::Slice>()(x, s.starts, s.ends, src.Optional(s.axes), src.Optional(s.steps));
}

// One Slice with everything written out; nothing when something is not a constant.
struct SliceLists {
  Ints starts, ends, axes, steps;
};

std::optional<SliceLists> ReadSlice(const MatchContext& m, const SliceOperands& s, int64_t rank) {
  const auto starts = m[s.starts].ints(), ends = m[s.ends].ints();
  if (!starts || !ends || rank < 0) return std::nullopt;
  Ints all_axes(starts->size());
  std::iota(all_axes.begin(), all_axes.end(), int64_t{0});
  const auto axes = m.Has(s.axes) ? m[s.axes].ints() : all_axes;
  const auto steps = m.Has(s.steps) ? m[s.steps].ints() : Ints(starts->size(), 1);
  if (!axes || !steps) return std::nullopt;
  SliceLists lists{*starts, *ends, *axes, *steps};
  for (int64_t& axis : lists.axes) axis += axis < 0 ? rank : 0;
  return lists;
}

}  // namespace

// concat(x) => x
WEFT_RULE(DropSingleConcat, "canonicalize", kExact, .aliases = {"remove-single-concat"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Concat>(AnyAttrs())(x);
  res.Tensor(out) = x;
}

// concat(xs, concat(ys), zs) => concat(xs, ys, zs). The document (ascend_knowledge_base.md) puts the
// inner operands first and compares axes as they are written; here operands stay in their places,
// and of rank 4 axis -1 is axis 3. An inner concat that is used twice stays: nested so, each one would
// double the operands.
WEFT_RULE(MergeConcats, "canonicalize", kExact, .seed = "ascend",
          .aliases = {"merge-consecutive-concat"}) {
  auto xs = src.Tensors("xs"), ys = src.Tensors("ys"), zs = src.Tensors("zs");
  auto inner_axis = src.Attr<int64_t>("inner_axis"), axis = src.Attr<int64_t>("axis");
  auto inner = src.Keep(src.Op<ops::Concat>({.axis = inner_axis})(ys));
  auto out = src.Op<ops::Concat>({.axis = axis})(xs, inner, zs);
  src.Require(SameAxis(inner, axis, inner_axis), OnlyUser(inner, out));
  res.Tensor(out) = res.Op<ops::Concat>({.axis = axis})(xs, ys, zs);
}

// concat(xs, e, ys) => concat(xs, ys), where e is empty. The document (ascend_knowledge_base.md,
// EmptySliceFix) drops an empty slice from any Concat; that is right only where the empty axis is
// the one that is joined: [0,3] and [0,4] joined along axis 1 are [0,7].
WEFT_RULE(DropEmptyOperand, "canonicalize", kExact, .seed = "ascend",
          .aliases = {"empty-slice-fix", "drop-empty-slice"}) {
  auto xs = src.Tensors("xs"), ys = src.Tensors("ys");
  auto e = src.Tensor("e");
  auto axis = src.Attr<int64_t>("axis");
  auto out = src.Op<ops::Concat>({.axis = axis})(xs, e, ys);
  src.Require(Dim(e, axis, 0), AnyElement({xs, ys}));
  res.Tensor(out) = res.Op<ops::Concat>({.axis = axis})(xs, ys);
}

// slice(x, ..) => x, where all of it is taken: as many as there are, one by one
WEFT_RULE(DropNoopSlice, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  const SliceOperands s = Operands(src, "");
  auto out = Slice(src, x, s);
  src.Require(SameType(x, out), IsSplat(IfGiven(s.steps), 1));
  res.Tensor(out) = x;
}

// Slices of different axes do not see each other, so starts, ends and steps of any sign stay as they
// are; the document (ascend_knowledge_base.md) misses axes and steps that are not written out, and
// takes axis -1 of rank 1 for another one than axis 0.
WEFT_RULE(MergeSlices, "canonicalize", kExact, .seed = "ascend",
          .aliases = {"merge-consecutive-slice"},
          .algebra =
              "slice(slice(x, s, e, a, t), s', e', a', t') => slice(x, s + s', e + e', a + "
              "a', t + t'), where + joins lists and no axis is in both a and a'") {
  auto x = src.Tensor("x");
  const SliceOperands inner = Operands(src, "inner_"), outer = Operands(src, "outer_");
  auto out = Slice(src, Slice(src, x, inner), outer);
  const auto lists_of = [&](const SliceOperands& s) {
    return src.Let("starts, ends, axes and steps are constants",
                   [=](const MatchContext& m) { return ReadSlice(m, s, m[x].rank()); });
  };
  auto a = lists_of(inner), b = lists_of(outer);
  src.Require("no axis is sliced by both", [=](const MatchContext& m) {
    const Ints &first = m[a].axes, &second = m[b].axes;
    return std::find_first_of(first.begin(), first.end(), second.begin(), second.end()) ==
           first.end();
  });
  const auto joined = [&](Ints SliceLists::*list) {
    return res.ConstantInts([=](const MatchContext& m) {
      Ints all = m[a].*list;
      all.insert(all.end(), (m[b].*list).begin(), (m[b].*list).end());
      return all;
    });
  };
  res.Tensor(out) = res.Op<ops::Slice>()(x, joined(&SliceLists::starts), joined(&SliceLists::ends),
                                         joined(&SliceLists::axes), joined(&SliceLists::steps));
}

}  // namespace weft::passes

#include <algorithm>
#include <numeric>

#include "passes/rules.h"

namespace weft::passes {
namespace {

// The operands of one Slice. Axes and steps may be absent.
struct SliceOperands {
  Tensor starts, ends, axes, steps;
};

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

// slice(slice(x, s, e, a, t), s', e', a', t') => slice(x, s + s', e + e', a + a', t + t'), where +
// joins lists and no axis is in both a and a'. Slices of different axes do not see each other, so
// starts, ends and steps of any sign stay as they are; the document misses axes and steps that are
// not written out, and takes axis -1 of rank 1 for another one than axis 0.
WEFT_RULE(MergeConsecutiveSlice, "canonicalize", kExact, .seed = "ascend") {
  auto x = src.Tensor("x");
  const auto operands = [&](const std::string& of) -> SliceOperands {
    return {src.Tensor(of + "_starts"), src.Tensor(of + "_ends"), src.Tensor(of + "_axes"),
            src.Tensor(of + "_steps")};
  };
  const auto slice = [&](Tensor t, const SliceOperands& s) {
    return src.Op<ops::Slice>()(t, s.starts, s.ends, src.Optional(s.axes), src.Optional(s.steps));
  };
  const SliceOperands inner = operands("inner"), outer = operands("outer");
  auto out = slice(slice(x, inner), outer);
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

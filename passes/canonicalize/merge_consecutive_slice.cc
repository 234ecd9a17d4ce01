// Seed: ascend_knowledge_base.md, MergeConsecutiveSlice. Slices of different axes do not see each
// other, so starts, ends and steps of any sign stay as they are; the seed misses axes and steps that
// are not written out, and takes axis -1 of rank 1 for another one than axis 0.
#include <algorithm>
#include <numeric>

#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

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

Ints Join(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// slice(slice(x, s, e, a, t), s', e', a', t') => slice(x, s + s', e + e', a + a', t + t'), where +
// joins lists and no axis is in both a and a'
class MergeConsecutiveSlice : public DrrPatternBase<MergeConsecutiveSlice> {
 public:
  static constexpr std::string_view kName = "merge-consecutive-slice";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "slice(slice(x, s, e, a, t), s', e', a', t') => slice(x, s + s', e + e', a + a', t + t'), "
      "where + joins lists and no axis is in both a and a'";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    const auto operands = [&](const std::string& of) -> SliceOperands {
      return {src.Tensor(of + "_starts"), src.Tensor(of + "_ends"), src.Tensor(of + "_axes"),
              src.Tensor(of + "_steps")};
    };
    const SliceOperands inner = operands("inner"), outer = operands("outer");
    const auto slice = [&](Tensor t, const SliceOperands& s) {
      return src.Op<ops::Slice>()(t, s.starts, s.ends, src.Optional(s.axes), src.Optional(s.steps));
    };
    auto sliced = slice(x, inner);
    auto out = slice(sliced, outer);

    src.RequireNativeCall("starts, ends, axes and steps are constants", [=](const MatchContext& m) {
      return ReadSlice(m, inner, m[x].rank()) && ReadSlice(m, outer, m[x].rank());
    });
    src.RequireNativeCall("no axis is sliced by both", [=](const MatchContext& m) {
      const Ints a = ReadSlice(m, inner, m[x].rank())->axes;
      const Ints b = ReadSlice(m, outer, m[x].rank())->axes;
      return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) == a.end();
    });

    ResultPattern res = src.ResultPattern();
    const auto joined = [&](Ints SliceLists::*list) {
      return res.ConstantInts([=](const MatchContext& m) {
        const int64_t rank = m[x].rank();
        return Join((*ReadSlice(m, inner, rank)).*list, (*ReadSlice(m, outer, rank)).*list);
      });
    };
    res.Tensor(out) =
        res.Op<ops::Slice>()(x, joined(&SliceLists::starts), joined(&SliceLists::ends),
                             joined(&SliceLists::axes), joined(&SliceLists::steps));
  }
};
WEFT_REGISTER_RULE(MergeConsecutiveSlice, "canonicalize");

}  // namespace
}  // namespace weft::passes

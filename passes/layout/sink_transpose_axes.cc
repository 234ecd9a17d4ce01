// Transposes sink through ops that have axes of their own: what was axis a is axis p[a].
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/constant_f32.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/nn/image.h"
#include "ir/dialects/onnx/reduce.h"
#include "passes/layout/axis_order.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

// The axes of x that a reduction of transpose(x, p) reduces, and the order of what is left of them.
struct Reduction {
  Ints axes, perm;
};
std::optional<Reduction> ReductionBefore(const Ints& p, const Ints& axes, bool keeps) {
  std::optional<Ints> reduced = AxesBefore(p, axes);
  if (!reduced || reduced->empty()) return std::nullopt;
  std::sort(reduced->begin(), reduced->end());
  reduced->erase(std::unique(reduced->begin(), reduced->end()), reduced->end());
  Reduction reduction{*reduced, keeps ? p : Ints()};
  if (keeps) return reduction;
  for (const int64_t axis : p) {
    if (std::binary_search(reduced->begin(), reduced->end(), axis)) continue;
    reduction.perm.push_back(
        axis - (std::lower_bound(reduced->begin(), reduced->end(), axis) - reduced->begin()));
  }
  return reduction;
}

// The scales of the axes of x, of those of transpose(x, p).
std::optional<ir::Attribute> ScalesBefore(ir::IrContext* context, const Ints& p,
                                          const std::optional<ir::DenseElements<float>>& scales) {
  if (!scales || scales->size() != p.size()) return std::nullopt;
  std::vector<float> before(p.size());
  for (size_t i = 0; i < p.size(); ++i) before[static_cast<size_t>(p[i])] = (*scales)[i];
  return MakeF32(context, ir::Shape{static_cast<int64_t>(p.size())},
                 [&](int64_t i) { return double{before[static_cast<size_t>(i)]}; });
}

// The target of a Reshape of x, [n, h, w, c], that cuts channels as `cut`, [n, groups, parts, h, w], does.
std::optional<Ints> ChannelsCut(const BoundTensor& x, const BoundTensor& cut) {
  if (x.rank() != 4 || cut.rank() != 5) return std::nullopt;
  for (const auto& [axis, of_x] : {std::pair(0, 0), std::pair(3, 1), std::pair(4, 2)})
    if (!ir::SameDim(cut.dim(axis), x.dim(of_x))) return std::nullopt;
  for (const int axis : {1, 2})
    if (!ir::IsStaticDim(cut.dim(axis)) || cut.dim(axis) == 0) return std::nullopt;
  return Ints{0, 0, 0, cut.dim(1), cut.dim(2)};  // 0 copies a size
}

// What is cut has a transpose for each part, so only where others are likely to meet them: attention
// matches heads that are cut off behind one transpose.
Condition IsOfConvolution(Attr<Ints> p) { return ListIs(p, {0, 3, 1, 2}); }

}  // namespace

// split(transpose(x, p), axis) => transpose(each of split(x, p[axis]), p), of two parts, as YOLO and
// ShuffleNet cut the channels of a convolution in two
WEFT_RULE(SinkTransposeThroughSplit, "layout", kExact) {
  auto x = src.Tensor("x"), sizes = src.Tensor("sizes");
  auto p = src.Attr<Ints>("p");
  auto axis = src.Attr<int64_t>("axis");
  auto split = src.Op<ops::Split>(AnyAttrs(), {.axis = axis});
  auto [a, b] =
      Several<2>(split, src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), src.Optional(sizes));
  src.Profitable(IsOfConvolution(p));
  for (const Tensor& part : {a, b})
    src.Profitable(NotResult(part)), src.Profitable(NotUsedBy<ops::Reshape>(part));
  auto [low, high] =
      Several<2>(res.Op<ops::Split>(AttrsOf(split), {.axis = ElementAt(p, axis)}), x, sizes);
  res.Tensor(a) = res.Op<ops::Transpose>({.perm = p})(low);
  res.Tensor(b) = res.Op<ops::Transpose>({.perm = p})(high);
}

// slice(transpose(x, p), s, e, axes, t) => transpose(slice(x, s, e, p[axes], t), p)
WEFT_RULE(SinkTransposeThroughSlice, "layout", kExact) {
  auto x = src.Tensor("x"), starts = src.Tensor("starts"), ends = src.Tensor("ends");
  auto axes = src.Tensor("axes"), steps = src.Tensor("steps");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<ops::Slice>()(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), starts, ends,
                                  axes, src.Optional(steps));
  src.Require(DType(axes, kI64));
  auto before = src.Let("the axes are constants", [=](const MatchContext& m) {
    const std::optional<Ints> list = m[axes].ints();
    return list ? AxesBefore(m[p], *list) : std::nullopt;
  });
  src.Profitable(IsOfConvolution(p));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(
      res.Op<ops::Slice>()(x, starts, ends, res.ConstantInts(before), steps));
}

// pad(transpose(x, p), pads, c, axes) => transpose(pad(x, pads by p, c), p)
WEFT_RULE(SinkTransposeThroughPad, "layout", kExact) {
  auto x = src.Tensor("x"), pads = src.Tensor("pads"), c = src.Tensor("c");
  auto axes = src.Tensor("axes");
  auto p = src.Attr<Ints>("p");
  auto pad = src.Op<ops::Pad>(AnyAttrs());
  auto out = pad(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), pads, src.Optional(c),
                 src.Optional(axes));
  auto before = src.Let("pads and axes are constants", [=](const MatchContext& m) {
    if (m.Has(axes) && !m[axes].ints()) return std::optional<Ints>();
    return PadsBefore(m[p], m[pads].ints(), m.Has(axes) ? m[axes].ints() : std::nullopt);
  });
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = p})(res.Like(pad)(x, res.ConstantInts(before), c));
}

// resize(transpose(x, p), scales) => transpose(resize(x, scales by p), p), scales constants, without which sizes are
// not known
WEFT_RULE(SinkTransposeThroughResize, "layout", kReassociates) {
  auto x = src.Tensor("x"), scales = src.Tensor("scales");
  auto p = src.Attr<Ints>("p");
  auto resize = src.Op<ops::Resize>(AnyAttrs(), {.axes = In{Ints()}.OrAbsent()});
  auto out = resize(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), src.None(), scales);
  auto moved = src.Let("there is a constant scale for each axis", [=](const MatchContext& m) {
    return ScalesBefore(m.context(), m[p], ConstantF32(m[scales]));
  });
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = p})(res.Like(resize)(x, res.None(), res.Constant(moved)));
}

// resize(transpose(x, p), sizes) => transpose(resize(x, sizes by p), p)
WEFT_RULE(SinkTransposeThroughResizeToSizes, "layout", kReassociates) {
  auto x = src.Tensor("x"), sizes = src.Tensor("sizes");
  auto p = src.Attr<Ints>("p");
  auto resize = src.Op<ops::Resize>(AnyAttrs(), {.axes = In{Ints()}.OrAbsent()});
  auto out =
      resize(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), src.None(), src.None(), sizes);
  auto moved = res.Op<ops::Gather>()(sizes, res.ConstantInts(InverseOf(p)));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = p})(res.Like(resize)(x, res.None(), res.None(), moved));
}

// reduce(transpose(x, p), axes) => transpose(reduce(x, p[axes]), p), or what of p is left without keepdims:
// nothing of a mean over height and width
WEFT_RULE(SinkTransposeThroughReduce, "layout", kReassociates) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p"), axes = src.Attr<Ints>("axes");
  auto keepdims = src.Attr<int64_t>("keepdims");
  auto f =
      src.OneOf<ops::ReduceMean, ops::ReduceMax, ops::ReduceMin, ops::ReduceSum, ops::ReduceProd,
                ops::ReduceL1, ops::ReduceL2, ops::ReduceSumSquare, ops::ReduceLogSum,
                ops::ReduceLogSumExp>(AnyAttrs(), {.axes = axes, .keepdims = keepdims});
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)));
  auto before = src.Let("the axes are listed", [=](const MatchContext& m) {
    return ReductionBefore(m[p], m[axes], m[keepdims] != 0);
  });
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = before[&Reduction::perm]})(
      res.Like(f, {.axes = before[&Reduction::axes]})(x));
}

// group_norm(nchw(x), scale, bias) => nchw(group_norm(x, scale, bias)) {channels_last}
WEFT_RULE(SinkTransposeThroughGroupNorm, "layout", kReassociates) {
  auto x = src.Tensor("x"), scale = src.Tensor("scale"), bias = src.Tensor("bias");
  auto norm = src.Op<fused::GroupNorm>(AnyAttrs(), {.channels_last = false});
  auto out = norm(src.Keep(src.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(x)), scale, bias);
  const auto row = [&](const Tensor& t) {
    return res.Op<ops::Reshape>()(t, res.ConstantInts({-1}));
  };
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(
      res.Like(norm, {.channels_last = true})(x, row(scale), row(bias)));
}

// reshape(transpose(reshape(nchw(x), [n, g, k, h, w]), [0, 2, 1, 3, 4]), [n, c, h, w]) =>
// nchw(reshape(transpose(reshape(x, [n, h, w, g, k]), [0, 1, 2, 4, 3]), [n, h, w, c])), the channels of
// a ShuffleNet shuffled
WEFT_RULE(SinkTransposeThroughChannelShuffle, "layout", kExact) {
  auto x = src.Tensor("x");
  auto y = src.Keep(src.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(x));
  auto cut = src.Op<ops::Reshape>(AnyAttrs())(y, src.Tensor("to_groups"));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(
      src.Op<ops::Transpose>({.perm = {0, 2, 1, 3, 4}})(cut), src.Tensor("to_channels"));
  src.Require("the channels are joined again", SameShape(y, out));
  auto groups = src.Let("only channels are cut, into numbers of them",
                        [=](const MatchContext& m) { return ChannelsCut(m[x], m[cut]); });
  auto shuffled = res.Op<ops::Transpose>({.perm = {0, 1, 2, 4, 3}})(
      res.Op<ops::Reshape>()(x, res.ConstantInts(groups)));
  auto joined = res.ConstantInts([=](const MatchContext& m) {
    return Ints{0, 0, 0, m[groups][3] * m[groups][4]};
  });
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(res.Op<ops::Reshape>()(shuffled, joined));
}

}  // namespace weft::passes

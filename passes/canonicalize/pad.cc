// Padding that the op behind it does by itself.
#include <limits>
#include <optional>

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/quantized_math.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

struct Padding {
  Tensor x, pads, value, axes, out;

  explicit Padding(SourcePattern& src)
      : x(src.Tensor("x")),
        pads(src.Tensor("pads")),
        value(src.Tensor("value")),
        axes(src.Tensor("axes")),
        out(src.Op<ops::Pad>()(x, pads, src.Optional(value), src.Optional(axes))) {}

  // Of the spatial dimensions, all begins and then all ends; nothing where others are padded too, or
  // something is cut off.
  std::optional<Ints> Spatial(const MatchContext& m) const {
    const auto amounts = m[pads].ints();
    const auto given = m.Has(axes) ? m[axes].ints() : std::nullopt;
    const int64_t rank = m[x].rank();
    if (!amounts || rank < 3 || (m.Has(axes) && !given)) return std::nullopt;
    const size_t count = given ? given->size() : static_cast<size_t>(rank);
    if (amounts->size() != 2 * count) return std::nullopt;
    Ints spatial(static_cast<size_t>(2 * (rank - 2)));
    for (size_t i = 0; i < amounts->size(); ++i) {
      const int64_t amount = (*amounts)[i];
      if (amount == 0) continue;
      const auto place = static_cast<int64_t>(i % count);
      int64_t axis = given ? (*given)[place] : place;
      axis += axis < 0 ? rank : 0;
      if (amount < 0 || axis < 2 || axis >= rank) return std::nullopt;
      spatial[axis - 2 + (i < count ? 0 : rank - 2)] += amount;
    }
    return spatial;
  }
};

// The pads of an op, and those in front of it.
template <class Attrs>
std::optional<Ints> JoinPads(const Attrs& attrs, std::optional<Ints> before) {
  const bool is_valid = attrs.auto_pad == ops::AutoPad::kValid;
  if (!before || (!is_valid && attrs.auto_pad != ops::AutoPad::kNotSet)) return std::nullopt;
  if (is_valid || !attrs.pads || attrs.pads->empty()) return before;
  if (attrs.pads->size() != before->size()) return std::nullopt;
  for (size_t i = 0; i < before->size(); ++i) (*before)[i] += (*attrs.pads)[i];
  return before;
}

// A pool may not pad as much as its window is large.
template <class Attrs>
std::optional<Ints> JoinPoolPads(const Attrs& attrs, const std::optional<Ints>& before) {
  std::optional<Ints> joined = JoinPads(attrs, before);
  if (!joined || joined->size() != 2 * attrs.kernel_shape.size()) return std::nullopt;
  for (size_t i = 0; i < joined->size(); ++i)
    if ((*joined)[i] >= attrs.kernel_shape[i % attrs.kernel_shape.size()]) return std::nullopt;
  return joined;
}

constexpr char kOnlySpatial[] = "the padding is constant, of spatial dimensions, and can be joined";

}  // namespace

// conv(pad(x, p), w, b) => conv(x, w, b) {pads + p}
WEFT_RULE(FoldPadIntoConv, "canonicalize", kReassociates) {
  const Padding p(src);
  auto w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto out = conv(p.out, w, src.Optional(b));
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads =
      src.Let(kOnlySpatial, [=](const MatchContext& m) { return JoinPads(m[conv], p.Spatial(m)); });
  res.Tensor(out) = res.Like(conv, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x, w, b);
}

// conv_integer(pad(x, p), w) => conv_integer(x, w) {pads + p}, without zero points
WEFT_RULE(FoldPadIntoConvInteger, "canonicalize", kExact) {
  const Padding p(src);
  auto w = src.Tensor("w");
  auto conv = src.Op<ops::ConvInteger>(AnyAttrs());
  auto out = conv(p.out, w);
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads =
      src.Let(kOnlySpatial, [=](const MatchContext& m) { return JoinPads(m[conv], p.Spatial(m)); });
  res.Tensor(out) = res.Like(conv, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x, w);
}

// average_pool(pad(x, p)) => average_pool(x) {pads + p}, where padding counts
WEFT_RULE(FoldPadIntoAveragePool, "canonicalize", kReassociates) {
  const Padding p(src);
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(), {.ceil_mode = 0, .count_include_pad = 1});
  auto out = pool(p.out);
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads = src.Let(kOnlySpatial,
                      [=](const MatchContext& m) { return JoinPoolPads(m[pool], p.Spatial(m)); });
  res.Tensor(out) = res.Like(pool, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x);
}

// max_pool(pad(x, p, -inf)) => max_pool(x) {pads + p}: no zeros, which a window may be less than
WEFT_RULE(FoldPadIntoMaxPool, "canonicalize", kExact) {
  const Padding p(src);
  auto pool = src.Op<ops::MaxPool>(AnyAttrs(), {.ceil_mode = 0});
  auto out = pool(p.out);
  src.Require("the padding is minus infinity", [=](const MatchContext& m) {
    return m.Has(p.value) && m[p.value].splat() == -std::numeric_limits<double>::infinity();
  });
  auto pads = src.Let(kOnlySpatial,
                      [=](const MatchContext& m) { return JoinPoolPads(m[pool], p.Spatial(m)); });
  res.Tensor(out) = res.Like(pool, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x);
}

}  // namespace weft::passes

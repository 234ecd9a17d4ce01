// Padding that the op behind it does by itself.
#include <limits>

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/quantized_math.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

struct Padding {
  Tensor x, pads, value, axes, out;

  explicit Padding(SourcePattern& src) : Padding(src, src.Tensor("x")) {}
  Padding(SourcePattern& src, const Tensor& padded)
      : x(padded),
        pads(src.Tensor("pads")),
        value(src.Tensor("value")),
        axes(src.Tensor("axes")),
        out(src.Op<ops::Pad>()(x, pads, src.Optional(value), src.Optional(axes))) {}
};

constexpr char kOnlySpatial[] = "the padding is constant, of spatial dimensions, and can be joined";

}  // namespace

// conv(pad(x, p), w, b) => conv(x, w, b) {pads + p}
WEFT_RULE(FoldPadIntoConv, "canonicalize", kReassociates) {
  const Padding p(src);
  auto w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto out = conv(p.out, w, src.Optional(b));
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads = src.Let(kOnlySpatial, JoinedPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(conv, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x, w, b);
}

// conv_integer(pad(x, p), w) => conv_integer(x, w) {pads + p}, without zero points
WEFT_RULE(FoldPadIntoConvInteger, "canonicalize", kExact) {
  const Padding p(src);
  auto w = src.Tensor("w");
  auto conv = src.Op<ops::ConvInteger>(AnyAttrs());
  auto out = conv(p.out, w);
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads = src.Let(kOnlySpatial, JoinedPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(conv, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x, w);
}

// average_pool(pad(x, p)) => average_pool(x) {pads + p}, where padding counts
WEFT_RULE(FoldPadIntoAveragePool, "canonicalize", kExact) {
  const Padding p(src);
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(), {.ceil_mode = 0, .count_include_pad = 1});
  auto out = pool(p.out);
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads = src.Let(kOnlySpatial, JoinedPoolPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(pool, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x);
}

// average_pool(pad(x, p)) => average_pool(x) {pads + p, and padding counts}, where it pads nothing itself
WEFT_RULE(FoldPadIntoPlainAveragePool, "canonicalize", kExact) {
  const Padding p(src);
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(),
                                       {.auto_pad = In{ops::AutoPad::kNotSet, ops::AutoPad::kValid},
                                        .ceil_mode = 0,
                                        .count_include_pad = 0,
                                        .pads = In{Ints(2), Ints(4), Ints(6)}.OrAbsent()});
  auto out = pool(p.out);
  src.Require(IsSplat(IfGiven(p.value), 0));
  auto pads = src.Let(kOnlySpatial, JoinedPoolPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(
      pool, {.auto_pad = ops::AutoPad::kNotSet, .count_include_pad = 1, .pads = pads})(p.x);
}

// max_pool(pad(x, p, -inf)) => max_pool(x) {pads + p}: no zeros, which a window may be less than. Not
// exact, as whether a NaN is the maximum may depend on what it is compared with first.
WEFT_RULE(FoldPadIntoMaxPool, "canonicalize", kReassociates) {
  const Padding p(src);
  auto pool = src.Op<ops::MaxPool>(AnyAttrs(), {.ceil_mode = 0});
  auto out = pool(p.out);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  src.Require("the padding is minus infinity", IsSplat(p.value, -kInfinity, 0));
  auto pads = src.Let(kOnlySpatial, JoinedPoolPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(pool, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x);
}

// max_pool(pad(relu(x), p)) => max_pool(relu(x)) {pads + p}: 0 is never more than what a window holds
// besides. Not exact, likewise.
WEFT_RULE(FoldZeroPadIntoMaxPool, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), high = src.Tensor("high");
  const auto clip = src.Op<ops::Clip>();
  const Padding p(src, src.Keep(src.Either(src.OneOf<ops::Relu, ops::Sigmoid>()(x),
                                           clip(x, src.Splat(0), src.Optional(high)))));
  constexpr char kFilled[] =
      "the padding is constant, of spatial dimensions, can be joined, and fills no window";
  auto pool = src.Op<ops::MaxPool>(AnyAttrs(), {.ceil_mode = 0});
  auto out = pool(p.out);
  src.Require(IsSplat(IfGiven(p.value), 0), Positive(IfGiven(high)));
  auto pads = src.Let(kFilled, JoinedFilledPoolPads(out, p.pads, p.axes));
  res.Tensor(out) = res.Like(pool, {.auto_pad = ops::AutoPad::kNotSet, .pads = pads})(p.x);
}

}  // namespace weft::passes

// QuantizeLinear and DequantizeLinear brought together: what only moves or orders numbers works on
// the integers.
#include "ir/dialects/onnx/nn/image.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "passes/fusion/quantized.h"

namespace weft::passes {
namespace {

// dq(x), or what one operator makes of it that only moves its elements.
Tensor MovedDequantized(SourcePattern& src) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  auto moved = src.OneOf<ops::Transpose, ops::Flatten>(AnyAttrs())(x.real);
  auto reshaped = src.Op<ops::Reshape>(AnyAttrs())(x.real, src.Tensor("sizes"));
  return src.EitherOf({x.real, src.Keep(moved), src.Keep(reshaped)});
}

// dq(x), of whatever scales: only what is quantised again has to be of one.
Tensor AnyDequantized(SourcePattern& src) {
  auto x = src.Tensor("x"), scale = src.Tensor("x_scale"), zero = src.Tensor("x_zero_point");
  return src.Keep(src.Op<ops::DequantizeLinear>(AnyAttrs())(x, scale, src.Optional(zero)));
}

}  // namespace

// q(x, s) => q(x, s, 0), dq(x, s) => dq(x, s, 0)
WEFT_RULE(LowerAbsentZeroPoint, "quantized-moves", kExact) {
  auto x = src.Tensor("x"), scale = src.Tensor("scale");
  auto f = src.OneOf<ops::QuantizeLinear, ops::DequantizeLinear>(AnyAttrs());
  auto out = f(x, scale, src.None());
  auto zero =
      src.Let("the integers have 8 bits, and the scale is one number", ZeroPoint(x, out, scale));
  res.Tensor(out) = res.Like(f)(x, scale, res.Constant(zero));
}

// q(dq(x, s, z), s, z) => x
WEFT_RULE(MergeDequantizeQuantize, "quantized-moves", kExact) {
  auto x = src.Tensor("x"), scale = src.Tensor("x_scale"), zero = src.Tensor("x_zero_point");
  auto dequantize = src.Op<ops::DequantizeLinear>(AnyAttrs(), {.output_dtype = 0});
  const Quantized y(src, src.Keep(dequantize(x, scale, zero)));
  src.Require(SameType(x, y.q),
              DType(scale, kF32));  // what is dequantised has the type of its scale
  src.Require("the scales and the zero points are equal", SameNumber(scale, y.scale),
              SameNumber(zero, y.zero_point));
  res.Tensor(y.q) = x;
}

// q(f(m(dq(x)))) => f(q(m(dq(x)))), f and m move elements and make none; m may be absent
WEFT_RULE(SinkMovementThroughQuantize, "quantized-moves", kExact) {
  auto f = src.OneOf<ops::Transpose, ops::Flatten>(AnyAttrs());
  auto x = MovedDequantized(src);
  const Quantized y(src, f(x));
  res.Tensor(y.q) = res.Like(f)(res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point));
}

// q(f(m(dq(x)), a)) => f(q(m(dq(x))), a), likewise
WEFT_RULE(SinkReshapeThroughQuantize, "quantized-moves", kExact) {
  auto x = MovedDequantized(src), a = src.Tensor("a");
  auto f = src.OneOf<ops::Reshape, ops::Expand, ops::Gather>(AnyAttrs());
  const Quantized y(src, f(x, a));
  res.Tensor(y.q) = res.Like(f)(res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point), a);
}

// q(slice(dq(x), starts, ends, axes, steps)) => slice(q(dq(x)), starts, ends, axes, steps)
WEFT_RULE(SinkSliceThroughQuantize, "quantized-moves", kExact) {
  auto x = AnyDequantized(src);
  auto starts = src.Tensor("starts"), ends = src.Tensor("ends");
  auto axes = src.Tensor("axes"), steps = src.Tensor("steps");
  auto slice = src.Op<ops::Slice>()(x, starts, ends, src.Optional(axes), src.Optional(steps));
  const Quantized y(src, slice);
  res.Tensor(y.q) = res.Op<ops::Slice>()(res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point),
                                         starts, ends, axes, steps);
}

// q(resize(dq(x), roi, scales, sizes)) => resize(q(dq(x)), roi, scales, sizes), where each element is its
// nearest one of x
WEFT_RULE(SinkResizeThroughQuantize, "quantized-moves", kExact) {
  auto x = AnyDequantized(src);
  auto roi = src.Tensor("roi"), scales = src.Tensor("scales"), sizes = src.Tensor("sizes");
  using Mode = ops::CoordinateMode;
  // Not kTfCropAndResize, which makes elements for what is outside.
  auto resize = src.Op<ops::Resize>(
      AnyAttrs(), {.coordinate_transformation_mode =
                       In{Mode::kHalfPixel, Mode::kHalfPixelSymmetric, Mode::kPytorchHalfPixel,
                          Mode::kAlignCorners, Mode::kAsymmetric, Mode::kTfHalfPixelForNn},
                   .mode = ops::ResizeMode::kNearest});
  const Quantized y(src, resize(x, src.Optional(roi), src.Optional(scales), src.Optional(sizes)));
  res.Tensor(y.q) =
      res.Like(resize)(res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point), roi, scales, sizes);
}

// q(max_pool(dq(x))) => max_pool(q(dq(x))). A window of padding alone has the least number of either.
WEFT_RULE(SinkMaxPoolThroughQuantize, "quantized-moves", kExact) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  auto pool = src.Op<ops::MaxPool>(AnyAttrs());
  const Quantized y(src, pool(x.real));
  res.Tensor(y.q) = res.Like(pool)(res.Op<ops::QuantizeLinear>()(x.real, y.scale, y.zero_point));
}

// q(concat(xs, axis)) => concat(q(x) of each x, axis), where each x is a dq. Not for ONNX Runtime, which
// has the whole in one operator.
WEFT_RULE(SinkConcatThroughQuantize, "fuse-quantized", kExact) {
  auto xs = src.Tensors("xs");
  auto axis = src.Attr<int64_t>("axis");
  const Quantized y(src, src.Op<ops::Concat>({.axis = axis})(xs));
  src.Require("each operand is dequantised", MadeBy<ops::DequantizeLinear>(xs));
  res.Tensor(y.q) = res.Op<ops::Concat>({.axis = axis})(
      res.Op<ops::QuantizeLinear>().Each(xs, y.scale, y.zero_point));
}

// q(relu(x), s, z) => clip(q(x, s, z), z, none)
WEFT_RULE(SinkReluThroughQuantize, "quantized-moves", kExact) {
  auto x = src.Tensor("x");
  const Quantized y(src, src.Op<ops::Relu>()(x));
  auto q = res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point);
  res.Tensor(y.q) = res.Op<ops::Clip>()(q, res.Constant(ScalarOf(y.zero_point)), res.None());
}

// q(clip(x, low, high)) => clip(q(x), q(low), q(high)), where a NaN, which q makes the largest integer
// of, is clipped too
WEFT_RULE(SinkClipThroughQuantize, "quantized-moves", kReassociates) {
  auto x = src.Tensor("x"), low = src.Tensor("low"), high = src.Tensor("high");
  const Quantized y(src, src.Op<ops::Clip>()(x, src.Optional(low), src.Optional(high)));
  src.Require(DType(x, kF32), IsUniform(IfGiven(low)), IsUniform(IfGiven(high)));
  const auto bound = [&](const Tensor& number, int end) {
    return res.Constant(QuantizedNumber(number, y.scale, y.zero_point, end));
  };
  auto q = res.Op<ops::QuantizeLinear>()(x, y.scale, y.zero_point);
  res.Tensor(y.q) = res.Op<ops::Clip>()(q, bound(low, -1), bound(high, 1));
}

// clip(x, low, high) => x, where the bounds are those of the element type
WEFT_RULE(DropFullClip, "quantized-moves", kExact) {
  auto x = src.Tensor("x"), low = src.Tensor("low"), high = src.Tensor("high");
  auto out = src.Op<ops::Clip>()(x, src.Optional(low), src.Optional(high));
  src.Require("the bounds are those of the element type", RangeEnd(IfGiven(low), -1),
              RangeEnd(IfGiven(high), 1));
  src.Profitable(DType(x, kI8, kU8));  // what is left of quantised groups
  res.Tensor(out) = x;
}

}  // namespace weft::passes

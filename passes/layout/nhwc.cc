// Convolutions and pools that compute in NHWC, between transposes that the rules of
// sink_transpose.cc bring together with those of their neighbours.
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/pool.h"
#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "passes/pattern_layout.h"
#include "passes/rules.h"

namespace weft::passes {
// conv(x, w, b) => nchw(fused.conv2d(nhwc(x), w, b)), with explicit pads
WEFT_RULE(LowerConvToNhwc, "layout", kExact, .aliases = {"conv-to-nhwc"}) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet});
  auto out = conv(x, w, src.Optional(b));
  src.Require(Rank(x, 4), Rank(w, 4), DType(x, kF32), IsConstant(w));
  res.Tensor(out) = ToNchw(res, res.Op<fused::Conv2d>(AttrsOf(conv))(ToNhwc(res, x), w, b));
}

// conv_transpose(x, w, b) => nchw(fused.conv_transpose2d(nhwc(x), w, b)), with explicit pads
WEFT_RULE(LowerConvTransposeToNhwc, "layout", kExact) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::ConvTranspose>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet,
                                                      .dilations = In{Ints{1, 1}}.OrAbsent(),
                                                      .output_shape = Absent()});
  auto out = conv(x, w, src.Optional(b));
  src.Require(Rank(x, 4), Rank(w, 4), DType(x, kF32));
  src.Profitable(IsConstant(w), IsConstant(IfGiven(b)));
  res.Tensor(out) =
      ToNchw(res, res.Op<fused::ConvTranspose2d>(AttrsOf(conv))(ToNhwc(res, x), w, b));
}

// max_pool(x) => nchw(fused.max_pool2d(nhwc(x))), with explicit pads and indices in row order
WEFT_RULE(LowerMaxPoolToNhwc, "layout", kExact, .aliases = {"max-pool-to-nhwc"}) {
  auto x = src.Tensor("x");
  auto ceil_mode = src.Attr<int64_t>("ceil_mode");
  auto pool = src.Op<ops::MaxPool>(
      AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet, .ceil_mode = ceil_mode, .storage_order = 0});
  auto out = pool(x);
  src.Require(Rank(x, 4));
  src.Profitable(DType(x, kF32, kI8, kU8));
  auto y = res.Op<fused::MaxPool2d>(AttrsOf(pool), {.ceil_mode = AsBool(ceil_mode)});
  res.Tensor(out) = ToNchw(res, y(ToNhwc(res, x)));
}

// average_pool(x) => nchw(fused.average_pool2d(nhwc(x))), with explicit pads
WEFT_RULE(LowerAveragePoolToNhwc, "layout", kReassociates, .aliases = {"average-pool-to-nhwc"}) {
  auto x = src.Tensor("x");
  auto ceil_mode = src.Attr<int64_t>("ceil_mode");
  auto count_include_pad = src.Attr<int64_t>("count_include_pad");
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet,
                                                    .ceil_mode = ceil_mode,
                                                    .count_include_pad = count_include_pad,
                                                    .dilations = In{Ints{1, 1}}.OrAbsent()});
  auto out = pool(x);
  src.Require(Rank(x, 4), DType(x, kF32));
  auto y = res.Op<fused::AveragePool2d>(
      AttrsOf(pool),
      {.ceil_mode = AsBool(ceil_mode), .count_include_pad = AsBool(count_include_pad)});
  res.Tensor(out) = ToNchw(res, y(ToNhwc(res, x)));
}

// global_average_pool(x) => nchw(fused.global_average_pool2d(nhwc(x)))
WEFT_RULE(LowerGlobalAveragePoolToNhwc, "layout", kReassociates,
          .aliases = {"global-average-pool-to-nhwc"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::GlobalAveragePool>()(x);
  src.Require(Rank(x, 4), DType(x, kF32));
  res.Tensor(out) = ToNchw(res, res.Op<fused::GlobalAveragePool2d>()(ToNhwc(res, x)));
}

}  // namespace weft::passes

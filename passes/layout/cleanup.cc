// Ops that only reinterpret a shape, as reshapes that merge with those around them; transposes of
// images that the first convolution reads as they lie, and pools that no layout helps.
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/pool.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "passes/rules.h"

namespace weft::passes {

// flatten(x) => reshape(x, known shape)
WEFT_RULE(LowerFlattenToReshape, "layout-cleanup", kExact, .aliases = {"flatten-to-reshape"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Flatten>(AnyAttrs())(x);
  src.Require(NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// transpose(x, p) that moves only dimensions of size 1 => reshape(x)
WEFT_RULE(LowerUnitTransposeToReshape, "layout-cleanup", kExact,
          .aliases = {"transpose-of-unit-dims-to-reshape"}) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<ops::Transpose>({.perm = p})(x);
  src.Require(NonEmpty(x), OnlyUnitDimsMove(x, p));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// conv2d(nhwc(x), w, b, r) => conv2d(x, w, b, r) {x_channels_first}, x an image of few channels
WEFT_RULE(FuseImageTranspose, "layout-cleanup", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
  auto conv = src.Op<fused::Conv2d>(AnyAttrs(), {.group = 1, .x_channels_first = false});
  auto out =
      conv(src.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x), w, src.Optional(b), src.Optional(r));
  src.Require(MaxDim(x, 1, 4), IsConstant(w));
  res.Tensor(out) = res.Op<fused::Conv2d>(AttrsOf(conv), {.x_channels_first = true})(x, w, b, r);
}

// fused.global_average_pool2d(nhwc(x)) => nhwc(global_average_pool(x)): no neighbour of x is in NHWC, and reading x is
// all that the pool does
WEFT_RULE(SinkTransposeThroughGlobalAveragePool, "layout-cleanup", kReassociates) {
  auto x = src.Tensor("x");
  auto out =
      src.Op<fused::GlobalAveragePool2d>()(src.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(res.Op<ops::GlobalAveragePool>()(x));
}

}  // namespace weft::passes

// Ops that an Ascend NPU has in one form only.
#include "ir/dialects/ascend.h"
#include "ir/dialects/onnx/nn/image.h"
#include "passes/rules.h"

namespace weft::passes {

// For hardware that resizes to the nearest neighbour only (ascend_knowledge_base.md,
// ResizeModeToNearest). Changes what the program computes: the two agree only where nothing is
// resized. The coordinates stay; what says how to interpolate goes.
WEFT_RULE(LowerResizeToNearest, "ascend", kChangesMeaning, .seed = "ascend", .opt_in = true,
          .aliases = {"resize-mode-to-nearest"},
          .algebra = "resize(x, linear or cubic) => resize(x, nearest)") {
  auto x = src.Tensor("x"), roi = src.Tensor("roi");
  auto scales = src.Tensor("scales"), sizes = src.Tensor("sizes");
  auto coordinates = src.Attr<ops::CoordinateMode>("coordinates");
  auto extrapolation = src.Attr<float>("extrapolation");
  auto resize = src.Op<ops::Resize>(
      AnyAttrs(), {.axes = Absent(),
                   .coordinate_transformation_mode = coordinates,
                   .extrapolation_value = extrapolation,
                   .keep_aspect_ratio_policy = ops::AspectRatioPolicy::kStretch,
                   .mode = In{ops::ResizeMode::kLinear, ops::ResizeMode::kCubic}});
  auto out = resize(x, src.Optional(roi), src.Optional(scales), src.Optional(sizes));
  res.Tensor(out) =
      res.Op<ops::Resize>({.coordinate_transformation_mode = coordinates,
                           .extrapolation_value = extrapolation})(x, roi, scales, sizes);
}

// The document (ascend_knowledge_base.md, TopkFix) changes the type of k and of the indices in
// place, which ONNX does not allow; here the op becomes another one, so that the rule does not meet
// its own result, and every user of the indices gets the i64 it had.
WEFT_RULE(LowerTopkIndices, "ascend", kExact, .seed = "ascend", .aliases = {"topk-fix"},
          .algebra = "(v, i) = top_k(x, k) => (v, j) = ascend.top_k(x, i32(k)), i = i64(j)") {
  auto x = src.Tensor("x"), k = src.Tensor("k");
  auto axis = src.Attr<int64_t>("axis");
  auto top_k = src.Op<ops::TopK>(AnyAttrs(), {.axis = axis});
  auto [values, indices] = top_k(x, k);
  src.Require("the size of the axis is known and fits in i32", MaxDim(x, axis, INT32_MAX));
  auto [new_values, new_indices] =
      res.Op<ascend::TopK>(AttrsOf(top_k))(x, res.Op<ops::Cast>({.to = kI32})(k));
  res.Tensor(values) = new_values;
  res.Tensor(indices) = res.Op<ops::Cast>({.to = kI64})(new_indices);
}

}  // namespace weft::passes

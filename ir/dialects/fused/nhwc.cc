#include "ir/dialects/fused/nhwc.h"

#include <algorithm>

#include "ir/dialects/onnx.h"

namespace weft::ir::fused {

Value ToNchw(Builder& b, Value x) { return b.Make<ops::Transpose>({x}, {.perm = {0, 3, 1, 2}}); }
Value ToNhwc(Builder& b, Value x) { return b.Make<ops::Transpose>({x}, {.perm = {0, 2, 3, 1}}); }

bool SlideNhwc(InferContext& c, const Window& window, Dims* dims, bool x_channels_first) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 4)) return false;
  // WindowDims would take an empty one for the default of ONNX.
  if (window.strides.empty() || window.dilations.empty() || window.pads.empty())
    return c.Fail("strides, dilations or pads has no entries");
  *dims = DimsOf(c, 0).value_or(Shape(4, kUnknownDim));
  if (x_channels_first) std::rotate((*dims)->begin() + 1, (*dims)->begin() + 2, (*dims)->end());
  Shape spatial;
  if (!WindowDims(c, std::span(**dims).subspan(1, 2), window, &spatial)) return false;
  (**dims)[1] = spatial[0];
  (**dims)[2] = spatial[1];
  return true;
}

}  // namespace weft::ir::fused

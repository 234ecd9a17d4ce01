// What the ops on NHWC activations share: convolution and pools.
#pragma once

#include "ir/builder.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::fused {

Value ToNchw(Builder& b, Value x);
Value ToNhwc(Builder& b, Value x);

// *dims: those of operand 0 in NHWC, with height and width those of the window's positions.
bool SlideNhwc(InferContext& c, const Window& window, Dims* dims, bool x_channels_first = false);

}  // namespace weft::ir::fused

// Convolutions and pools on NHWC images: the shape of a convolution, of floats or of bytes, and the NCHW ones of
// the onnx dialect, transposes around the NHWC kernel of the fused op. Layout rules (passes) let neighbours share
// transposes; this is for programs they have not seen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/onnx/movement.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/conv2d.h"
#include "kernels/window.h"

namespace weft::kernels::native {

// Of the attributes of fused.conv2d or fused.qconv2d, sizes of the image (NHWC, or NCHW where
// `x_channels_first`) and of the weights, in ONNX's order.
template <class Attrs>
simd::Conv2dShape Conv2dShapeOf(const Attrs& attrs, std::span<const int64_t> x,
                                std::span<const int64_t> w, bool x_channels_first = false) {
  return {.batch = x[0],
          .in_height = x[x_channels_first ? 2 : 1],
          .in_width = x[x_channels_first ? 3 : 2],
          .in_channels = x[x_channels_first ? 1 : 3],
          .out_channels = w[0],
          .kernel_height = w[2],
          .kernel_width = w[3],
          .stride_height = attrs.strides[0],
          .stride_width = attrs.strides[1],
          .dilation_height = attrs.dilations[0],
          .dilation_width = attrs.dilations[1],
          .pad_top = attrs.pads[0],
          .pad_left = attrs.pads[1],
          .pad_bottom = attrs.pads[2],
          .pad_right = attrs.pads[3]};
}

inline const std::vector<std::string> kBodyProviders = {"native", "xnnpack"};

// The two last of Window's axes.
inline ir::Ints LastTwo(const int64_t (&values)[Window::kSpatial]) {
  return {values[1], values[2]};
}
inline ir::Ints Pads(const Window& w) {
  return {w.pad_before[1], w.pad_before[2], w.pad_after[1], w.pad_after[2]};
}

// A window over NCHW with two spatial dimensions.
template <class Attrs>
absl::StatusOr<Window> MakeWindow2d(const KernelContext& context, const Attrs& attrs,
                                    std::span<const int64_t> kernel) {
  if (context.dims(0).size() != 4) return context.Unsupported("other than two spatial dimensions");
  if (context.num_results() > 1) return context.Unsupported("a second result");
  return MakeWindow(attrs, context.dims(0), kernel, context.result_dims(0));
}

inline ir::Value ToNhwc(ir::Builder& b, ir::Value x) {
  return b.Make<ir::ops::Transpose>({x}, {.perm = ir::Ints{0, 2, 3, 1}});
}
inline ir::Value ToNchw(ir::Builder& b, ir::Value x) {
  return b.Make<ir::ops::Transpose>({x}, {.perm = ir::Ints{0, 3, 1, 2}});
}

}  // namespace weft::kernels::native

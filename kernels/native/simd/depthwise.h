// Depthwise 2-D convolution of NHWC images: every channel by a filter of its own,
// y = activation(conv(x, w) + bias + residual).
//
// The image is read in place: no padded copy, no scratch. Taps that fall on padding are left out.
// Sums run over the taps in order, so numbers depend neither on threads nor on where rows are cut.
#pragma once

#include <vector>

#include "kernels/native/simd/conv2d.h"

namespace weft::kernels::simd {

// Weights [channels, 1, kernel_height, kernel_width] (ONNX's order) as [taps, channels].
std::vector<float> PackDepthwiseWeights(const float* weights, const Conv2dShape& shape);
void PackDepthwiseWeights(const float* weights, const Conv2dShape& shape, float* packed);

struct DepthwiseArguments {
  Conv2dShape shape = {};           // out_channels is in_channels
  const float* x = nullptr;         // [batch, in_height, in_width, channels]
  const float* weights = nullptr;   // by PackDepthwiseWeights
  const float* bias = nullptr;      // [channels], optional
  const float* residual = nullptr;  // as y, optional; may be y
  float* y = nullptr;               // [batch, out_height, out_width, channels]
  Activation activation = {};       // NaN in, NaN out
};
void Depthwise(const DepthwiseArguments& arguments, ThreadPool& pool);

}  // namespace weft::kernels::simd

// 2-D convolution of NHWC images of 8-bit integers, exact in 32 bits (gemm.h): a matrix product whose rows
// are the windows, gathered a few at a time, or, of a pointwise convolution, the pixels as they lie; with one
// channel to a group, sums over the taps.
#pragma once

#include <vector>

#include "kernels/native/simd/conv2d.h"
#include "kernels/native/simd/int8/gemm.h"

namespace weft::kernels::simd {

// Weights [out_channels, in_channels, kernel_height, kernel_width] of one group (ONNX's order).
struct Int8ConvWeights {
  const std::byte* data = nullptr;
  bool is_signed = true, x_signed = false;
  std::span<const int> zeros = {};  // none, one or out_channels
};
Int8Matrix PackInt8Conv2dWeights(const Int8ConvWeights& weights, const Conv2dShape& shape,
                                 ThreadPool& pool);

struct Int8Conv2dArguments {
  Conv2dShape shape = {};  // of one group
  const std::byte* x =
      nullptr;           // [batch, in_height, in_width]; kInt8ReadsPast bytes behind it may be read
  int64_t x_stride = 0;  // from a pixel to the next
  int x_zero = 0;        // what is around the image
  const Int8Matrix* weights = nullptr;
  const int32_t* bias = nullptr;  // [out_channels], optional
  Int8Result result = {};         // c_stride: from a pixel to the next
};
void Int8Conv2d(const Int8Conv2dArguments& arguments, ThreadPool& pool);

// Of shape.in_channels groups with an input and an output each: weights [channels, 1, kernel_height,
// kernel_width].
struct Int8DepthwiseWeights {
  std::vector<int16_t>
      pairs;  // two taps of every channel, less the zero point, channels in whole vectors
  std::vector<int32_t> sums;  // over the taps of a channel
};
Int8DepthwiseWeights PackInt8DepthwiseWeights(const Int8ConvWeights& weights,
                                              const Conv2dShape& shape);

struct Int8DepthwiseArguments {
  Conv2dShape shape = {};
  const std::byte* x =
      nullptr;  // [batch, in_height, in_width, channels]; kInt8ReadsPast bytes likewise
  bool x_signed = false;
  int x_zero = 0;
  const Int8DepthwiseWeights* weights = nullptr;
  const int32_t* bias = nullptr;  // [channels], optional
  Int8Result result = {};         // kByte or kInt32; c_stride: from a pixel to the next
};
void Int8Depthwise(const Int8DepthwiseArguments& arguments, ThreadPool& pool);

}  // namespace weft::kernels::simd

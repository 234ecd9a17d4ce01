// 2-D convolution of NHWC images with weights packed once: y = activation(conv(x, w) + bias + residual). One group:
// for several, strides let each read and write its channels; depthwise.h is for those of one channel.
//
// Every output row is a matrix product that reads the image in place: no im2col, no padded copy, no scratch. Taps that
// fall on padding are left out, which at 7 x 7 saves a fifth of the work of a 3 x 3 kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/native/simd/activation.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/native/simd/window_axis.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

struct Conv2dShape {
  int64_t batch = 1;
  int64_t in_height = 0;
  int64_t in_width = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int64_t pad_bottom = 0;
  int64_t pad_right = 0;

  // At least 0.
  int64_t out_height() const;
  int64_t out_width() const;
  WindowAxis rows() const;
  WindowAxis columns() const;
};

// Packs weights [out_channels, in_channels, kernel_height, kernel_width] (ONNX's order); `memory` as of
// PackedMatrix::Pack.
PackedMatrix PackConv2dWeights(const WeightSource& weights, const Conv2dShape& shape,
                               ThreadPool& pool, bool x_channels_first = false,
                               float* memory = nullptr);

// Of a pointwise convolution without padding whose stride leaves out pixels: the pixels that it reads,
// one after the other, and its shape over those.
bool SkipsPixels(const Conv2dShape& shape);
Conv2dShape WithoutSkippedPixels(const Conv2dShape& shape);
// x [batch, in_height, in_width, in_channels] to y [batch, out_height, out_width, in_channels].
void GatherPixels(const Conv2dShape& shape, const float* x, float* y, ThreadPool& pool);

struct Conv2dArguments {
  Conv2dShape shape = {};
  const float* x = nullptr;  // [batch, in_height, in_width, in_channels]
  // x is [batch, in_channels, in_height, in_width] instead, dense. For images of few channels: tiles
  // read a row of the window, in one channel, at a time.
  bool x_channels_first = false;
  const PackedMatrix* weights = nullptr;  // by PackConv2dWeights
  // Of a convolution in three dimensions, whose weights are packed as [.., depth * height, width]: what one frame of the
  // result is the sum of, images at x + x_offset by the weights from that row of `weights` on. Not null: x alone is
  // not read, and may not be channels first.
  struct Frame {
    int64_t x_offset, weights_row;
  };
  const std::vector<Frame>* frames = nullptr;
  // By PackWinogradWeights (winograd.h), optional: given, they are used unless AMX tiles are faster.
  const PackedMatrix* winograd_weights = nullptr;
  const float* bias = nullptr;      // [out_channels], optional
  const float* residual = nullptr;  // as y, optional; may be y
  float* y = nullptr;               // [batch, out_height, out_width, out_channels]
  // Floats from one pixel to the next, more than the channels to read or write a part of a wider tensor; 0: dense.
  int64_t x_stride = 0;
  int64_t residual_stride = 0;
  int64_t y_stride = 0;
  Activation activation = {};
};
void Conv2d(const Conv2dArguments& arguments, ThreadPool& pool);

// --- for kernels whose sums come in another order (amx_conv2d.h, winograd.h) ---------

struct TileSet;

struct ReorderedConv2d {
  const Conv2dArguments* arguments = nullptr;
  const TileSet* tiles = nullptr;
  WindowAxis rows, columns;
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  int64_t residual_stride = 0;

  // Computes outputs `columns` of a row, out channels [first, last), by a chain of multiply-adds: for those that came
  // out not finite.
  void (*recompute)(const void* context, int64_t image, int64_t row, const Range& columns,
                    int64_t first, int64_t last) = nullptr;
  const void* context = nullptr;
};

}  // namespace weft::kernels::simd

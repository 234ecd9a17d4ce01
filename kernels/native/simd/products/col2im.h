// Adds the blocks of a transposed convolution where they lie on its result.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// In three dimensions, of which those that are missing are of size 1: element k of block b lies on the image at b * stride
// + k * dilation - begin, or beside it.
struct BlocksOnImage {
  static constexpr int kSpatial = 3;
  int64_t blocks[kSpatial] = {1, 1, 1};
  int64_t kernel[kSpatial] = {1, 1, 1};
  int64_t image[kSpatial] = {1, 1, 1};
  int64_t stride[kSpatial] = {1, 1, 1};
  int64_t dilation[kSpatial] = {1, 1, 1};
  int64_t begin[kSpatial] = {0, 0, 0};

  int64_t NumBlocks() const { return blocks[0] * blocks[1] * blocks[2]; }
  int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t ImageSize() const { return image[0] * image[1] * image[2]; }
};

// x [rows, NumBlocks()] has rows [first, first + rows) of those of all elements of the kernels of all channels; they are added
// to y, images one after the other. Sums run in the order of the rows.
void AddBlocks(const BlocksOnImage& on, const float* x, int64_t first, int64_t rows, float* y,
               ThreadPool& pool);

}  // namespace weft::kernels::simd

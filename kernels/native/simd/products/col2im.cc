#include "kernels/native/simd/products/col2im.h"

#include <algorithm>

namespace weft::kernels::simd {
namespace {

struct Range {
  int64_t begin, end;
};

// The blocks along an axis whose element k lies on the image.
Range BlocksAt(const BlocksOnImage& on, int axis, int64_t k) {
  const int64_t shift = on.begin[axis] - k * on.dilation[axis], stride = on.stride[axis];
  const int64_t begin = shift <= 0 ? 0 : (shift + stride - 1) / stride;
  const int64_t room = on.image[axis] - 1 + shift;
  const int64_t end = room < 0 ? 0 : room / stride + 1;
  return {begin, std::min(end, on.blocks[axis])};
}

int64_t ImageAt(const BlocksOnImage& on, int axis, int64_t block, int64_t k) {
  return block * on.stride[axis] + k * on.dilation[axis] - on.begin[axis];
}

// Element `element` of all blocks.
void AddRow(const BlocksOnImage& on, const float* x, int64_t element, float* y) {
  const int64_t k2 = element % on.kernel[2], k1 = element / on.kernel[2] % on.kernel[1],
                k0 = element / (on.kernel[2] * on.kernel[1]);
  const Range at0 = BlocksAt(on, 0, k0), at1 = BlocksAt(on, 1, k1), at2 = BlocksAt(on, 2, k2);
  const int64_t stride = on.stride[2], shift = k2 * on.dilation[2] - on.begin[2];
  for (int64_t b0 = at0.begin; b0 < at0.end; ++b0) {
    for (int64_t b1 = at1.begin; b1 < at1.end; ++b1) {
      const float* const from = x + (b0 * on.blocks[1] + b1) * on.blocks[2];
      float* const to =
          y + (ImageAt(on, 0, b0, k0) * on.image[1] + ImageAt(on, 1, b1, k1)) * on.image[2];
      if (stride == 1) {
        for (int64_t b2 = at2.begin; b2 < at2.end; ++b2) to[b2 + shift] += from[b2];
      } else {
        for (int64_t b2 = at2.begin; b2 < at2.end; ++b2) to[b2 * stride + shift] += from[b2];
      }
    }
  }
}

}  // namespace

void AddBlocks(const BlocksOnImage& on, const float* x, int64_t first, int64_t rows, float* y,
               ThreadPool& pool) {
  if (rows == 0) return;
  const int64_t elements = on.KernelSize(), last = first + rows;
  const int64_t first_channel = first / elements,
                channels = (last - 1) / elements + 1 - first_channel;
  pool.ParallelFor(channels, TileFor(channels, 2 * elements * on.NumBlocks()),
                   [&](int64_t begin, int64_t end) {
                     const int64_t from = std::max(first, (first_channel + begin) * elements);
                     const int64_t to = std::min(last, (first_channel + end) * elements);
                     for (int64_t row = from; row < to; ++row)
                       AddRow(on, x + (row - first) * on.NumBlocks(), row % elements,
                              y + row / elements * on.ImageSize());
                   });
}

}  // namespace weft::kernels::simd

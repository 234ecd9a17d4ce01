// 3 x 3 convolutions of NHWC images without strides by Winograd's F(2 x 2, 3 x 3) (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015): a square of 2 x 2 outputs takes 16 multiplications for each pair of channels
// where the definition takes 36.
//
// The 4 x 4 pixels that a square sees become 16 numbers per channel, those of many squares 16 matrices, which are
// multiplied with 16 matrices of weights; and 16 numbers per output channel become 4 outputs. Sums come in another
// order, and pixels are subtracted from each other: an output that is not finite so may be finite by the definition,
// so such outputs are computed anew.
#pragma once

#include <cstdint>

#include "kernels/isa.h"
#include "kernels/native/simd/conv2d.h"

namespace weft::kernels::simd {

// Whether a convolution is one of those, and it is faster than the sums of its definition on `isa`.
bool ConvolvesFasterByWinograd(const Conv2dShape& shape, Isa isa);

// From weights [out_channels, in_channels, 3, 3] the 16 matrices [in_channels, out_channels], one below the other.
PackedMatrix PackWinogradWeights(const WeightSource& weights, const Conv2dShape& shape,
                                 ThreadPool& pool);

void Conv2dByWinograd(const ReorderedConv2d& convolution, ThreadPool& pool);

}  // namespace weft::kernels::simd

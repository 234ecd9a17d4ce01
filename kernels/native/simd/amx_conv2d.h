// 2-D convolutions on AMX tiles (amx_gemm.h).
//
// A band of rows of the image, with its padding, is split into terms once and stays in the L2 cache:
// planes of 32 channels of a term, pixel after pixel, so that 16 neighbouring outputs see any tap in a
// tile of A. With strides there is a plane for every remainder of rows and columns, in which
// neighbouring outputs are neighbours again. Outputs are counted along whole rows of the planes; those
// at the end of a row that no image has are computed and dropped.
#pragma once

#include <cstdint>

#include "kernels/native/simd/conv2d.h"
#include "kernels/native/simd/gemm_tile.h"

namespace weft::kernels::simd {

// Whether tiles are faster than the f32 kernels.
bool ConvolvesFasterOnTiles(const Conv2dShape& shape);

void Conv2dOnTiles(const TermTiles& term_tiles, const ReorderedConv2d& convolution,
                   ThreadPool& pool);

}  // namespace weft::kernels::simd

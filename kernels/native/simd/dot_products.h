// Products of a few rows with a matrix whose rows are the columns of the product: a cache of keys, say. Each
// row of that is read once, where it lies, and nothing is packed.
#pragma once

#include <cstdint>

#include "kernels/isa.h"

namespace weft::kernels::simd {

struct RowsForDots {
  const float* data = nullptr;
  int64_t stride = 0;  // in floats, from row to row
  int64_t rows = 0;
};

inline constexpr int64_t kMostRowsForDots = 16;  // of a; packing b pays for more

// y[i][j] = a[i] . b[j], of `depth` floats each, which are summed in as many chains as a vector has lanes.
using DotProducts = void (*)(const RowsForDots& a, const RowsForDots& b, int64_t depth, float* y,
                             int64_t y_stride);
DotProducts DotProductsFor(Isa isa);

}  // namespace weft::kernels::simd

// Loops over the rows of operands with broadcasting, for the .cc files of elementwise functions.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Cuts the iterations of `nest` (whose last operand is the row-major result) into parallel ranges
// and calls row(offsets, n) for each piece of the innermost loop.
template <int kOperands, typename Row>
void ForEachRow(LoopNest<kOperands>& nest, ThreadPool& pool, const Row& row) {
  nest.Coalesce();
  int64_t count = 1;
  for (int i = 0; i < nest.rank; ++i) count *= nest.extents[i];
  pool.ParallelFor(count, TileFor(count, kOperands),
                   [&](int64_t begin, int64_t end) { nest.ForEachRow(begin, end, row); });
}

// Two operands and the result.
inline LoopNest<3> NestOf(std::span<const int64_t> a_strides, std::span<const int64_t> b_strides,
                          std::span<const int64_t> shape) {
  const Dims y_strides = RowMajorStrides(shape);
  LoopNest<3> nest;
  for (int i = 0; i < y_strides.size(); ++i) {
    nest.Add(shape[i], {a_strides[i], b_strides[i], y_strides[i]});
  }
  return nest;
}

}  // namespace weft::kernels::simd

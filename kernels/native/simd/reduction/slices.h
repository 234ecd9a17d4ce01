// How loops over the middle axis of [outer, extent, inner] are shared between threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Columns that one task takes of a strided axis: whole cache lines.
inline constexpr int64_t kColumns = 64;

// Runs slice(outer index, first column, last column) over [outer, inner] in parallel.
template <typename Slice>
void ForEachSlice(int64_t outer, int64_t extent, int64_t inner, int64_t element_cost,
                  ThreadPool& pool, const Slice& slice) {
  const int64_t pieces = (inner + kColumns - 1) / kColumns;
  const int64_t cost = extent * std::min(inner, kColumns) * element_cost + 8;
  pool.ParallelFor(outer * pieces, TileFor(outer * pieces, cost), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kColumns;
      slice(i / pieces, first, std::min(first + kColumns, inner));
    }
  });
}

}  // namespace weft::kernels::simd

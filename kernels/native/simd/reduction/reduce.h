// Reductions along one axis: sums, extrema, products, norms.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class ReduceOp {
  kSum,
  kMean,
  kMax,
  kMin,
  kSumSquare,
  kProduct,
  kAbsoluteSum,  // L1
  kNorm,         // L2: the root of the sum of squares
  kLogSumExp,    // of floats alone
};

// What joins the results of parts of equal size.
constexpr ReduceOp JoinOf(ReduceOp op) {
  return op == ReduceOp::kSumSquare || op == ReduceOp::kAbsoluteSum ? ReduceOp::kSum : op;
}

// y[outer, inner] = op over the middle axis of row-major x [outer, extent, inner]. An empty axis
// gives the identity of the op (NaN for kMean), but for kProduct, whose extent is at least 1. Sums
// are formed in blocks, so their error hardly grows with the extent, and products in double. A NaN
// stays.
void Reduce(ReduceOp op, const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
            ThreadPool& pool);

// The same of other numbers, with an extent of at least 1. T is double or an integer of 8 to 64 bits. Sums and
// products of integers wrap; they have no kMean and no kNorm.
template <typename T>
void ReduceNumbers(ReduceOp op, const T* x, T* y, int64_t outer, int64_t extent, int64_t inner,
                   ThreadPool& pool);

}  // namespace weft::kernels::simd

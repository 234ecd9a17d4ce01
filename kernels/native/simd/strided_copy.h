// Data movement: strided copies (transpose, concat, slice, split, expand, pad), fill and gather,
// for elements of 1, 2, 4 or 8 bytes of any type.
//
//   Transpose(x, Dims{1, 128, 12, 64}, Dims{0, 2, 1, 3}, y, 4, pool);
//
// A concat is one CopyStrided per input into a part of the result, a split or slice one out of a
// part of x (negative strides for negative steps), an expand one with source strides 0.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// y[i . y_strides] = x[i . x_strides] for every index i of `shape`. Strides count elements; y must
// not overlap x, and no two indices may name one element of y. Rank at most kMaxRank.
void CopyStrided(const void* x, std::span<const int64_t> x_strides, void* y,
                 std::span<const int64_t> y_strides, std::span<const int64_t> shape,
                 int element_size, ThreadPool& pool);

// Row-major x of `shape` to row-major y of shape[perm[0]], shape[perm[1]], ...
void Transpose(const void* x, std::span<const int64_t> shape, std::span<const int64_t> perm,
               void* y, int element_size, ThreadPool& pool);

// y[i] = the element at `value` for i < n.
void Fill(const void* value, void* y, int64_t n, int element_size, ThreadPool& pool);

// Row-major x of [outer, extent, inner] bytes and `count` indices to y of [outer, count, inner]
// bytes. An index below 0 counts from the end. Returns -1, or the position of the first index
// outside [-extent, extent), and then writes nothing. Index is int32_t or int64_t.
template <typename Index>
int64_t Gather(const void* x, int64_t outer, int64_t extent, int64_t inner_bytes,
               const Index* indices, int64_t count, void* y, ThreadPool& pool);

}  // namespace weft::kernels::simd

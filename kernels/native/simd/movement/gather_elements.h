// Elements chosen along an axis, each by an index of its own.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// y[i] = x[i . strides + index * along] for every i of `shape`, where index = indices[i]; indices and y are row-major.
// An index below 0 counts from the end of the axis, which has `extent` elements. `strides`, 0 along the axis, and
// `along` count elements, of 1, 2, 4 or 8 bytes. Returns -1, or the position of the first index outside [-extent,
// extent), and then y holds anything. Index is int32_t or int64_t.
template <typename Index>
int64_t GatherElements(const void* x, std::span<const int64_t> strides, int64_t extent,
                       int64_t along, const Index* indices, std::span<const int64_t> shape, void* y,
                       int element_size, ThreadPool& pool);

}  // namespace weft::kernels::simd

// The elementwise choice between two arrays with broadcasting, as binary.h has it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// y[i] = condition[i] ? a[i] : b[i] for elements of 1, 2, 4 or 8 bytes.
void Where(const uint8_t* condition, std::span<const int64_t> condition_strides, const void* a,
           std::span<const int64_t> a_strides, const void* b, std::span<const int64_t> b_strides,
           void* y, std::span<const int64_t> shape, int element_size, ThreadPool& pool);

}  // namespace weft::kernels::simd

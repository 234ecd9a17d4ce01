// Where along an axis the largest or smallest elements are.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

struct ExtremumOptions {
  bool smallest = false;
  bool last =
      false;  // of equal elements (0 and -0 too), and of several NaN, the last; else the first
};

// y[outer, inner]: the index of the largest element along the middle axis of a row-major x [outer, extent, inner]; the
// first NaN where there is one. T is float, double, int8_t, uint8_t, int32_t or int64_t; 0 < extent < 2^31.
template <class T>
void FindExtremum(const T* x, int64_t outer, int64_t extent, int64_t inner, ExtremumOptions options,
                  int64_t* y, ThreadPool& pool);

}  // namespace weft::kernels::simd

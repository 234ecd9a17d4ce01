// What pools of channels that lie one after the other do to a row of outputs: one tap of all their windows at a
// time, so that neighbours are worked on together and every window has its taps in order.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// A tap of n neighbouring windows: the elements x[i * stride], i < n.
template <class T>
struct Tap {
  const T* x = nullptr;
  int64_t stride = 1;
  int64_t n = 0;
};

// T is float, double, int8_t or uint8_t. largest[i] becomes the larger of it and the tap's element; a NaN there (where
// windows of floats start) is replaced by any element, and an element that is NaN replaces nothing else.
template <class T>
void JoinLargest(const Tap<T>& tap, T* largest);
// Likewise; places[i] becomes first + i * tap.stride where the element is taken, as it is wherever that is negative.
template <class T>
void JoinLargest(const Tap<T>& tap, T* largest, int32_t first, int32_t* places);

enum class TapTerm { kItself, kMagnitude, kSquare };
// sums[i] += term of the tap's element.
void AddTerms(const Tap<float>& tap, TapTerm term, double* sums);

// y[row] = the largest number of n > 0 elements of a row of x, of equal ones the first; NaN where there are only such.
void LargestOfRows(const float* x, int64_t rows, int64_t n, float* y, ThreadPool& pool);

}  // namespace weft::kernels::simd

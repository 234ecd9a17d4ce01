// Resampling along one axis: each element of the result is a weighted sum of elements of x along it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/resampling.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Taps of all elements along an axis, the same number for each: those that have fewer name one of theirs more
// than once, whose weight is divided among them, so that what is infinite stays infinite. Element i of the result
// has indices[t * extent + i], weights[t * extent + i] for t < taps; `floats` are the weights rounded.
struct EvenTaps {
  static constexpr int64_t kMost = 64;  // that Resample() takes
  int64_t extent = 0, taps = 0;
  std::vector<int32_t> indices;
  std::vector<double> weights;
  std::vector<float> floats;

  EvenTaps() = default;
  explicit EvenTaps(const AxisTaps& axis);  // each element has at least one
};

// x is [outer, in, inner] and y [outer, taps.extent, inner], row by row; they must not overlap.
void Resample(const EvenTaps& taps, const float* x, int64_t outer, int64_t in, int64_t inner,
              float* y, ThreadPool& pool);

// Elements that are summed in double: integers of 8 bits, which lose their fractions in the end, and doubles. A sum that
// is a whole number but for the rounding of its weights is that number.
enum class ExactType { kU8, kI8, kDouble };
template <class F, class T>
struct FromTo {
  using From = F;
  using To = T;
};
void ResampleExactly(const EvenTaps& taps, ExactType from, const std::byte* x, int64_t outer,
                     int64_t in, int64_t inner, ExactType to, std::byte* y, ThreadPool& pool);

// The same where each element is a copy of the first of its taps; elements of `size` bytes, 1, 2, 4 or 8.
void CopyAlongAxis(const EvenTaps& taps, const std::byte* x, int64_t outer, int64_t in,
                   int64_t inner, int64_t size, std::byte* y, ThreadPool& pool);

}  // namespace weft::kernels::simd

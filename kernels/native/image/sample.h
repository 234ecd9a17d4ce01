// Sums of elements of an image that lie anywhere in it, for many places at once.
#pragma once

#include <cstdint>

namespace weft::kernels::simd {

// Arrays that go with places are read and written in whole vectors.
inline constexpr int64_t kPlacesMultiple = 16;

// What the elements of y read: for t < taps, weights[t * stride + i] * x[indices[t * stride + i]], or nothing where that
// index is below 0.
struct PlaceTaps {
  const int32_t* indices = nullptr;
  const float* weights = nullptr;
  int64_t stride = 0;
  int64_t taps = 0;
};
// y[i] = the sum of its taps, times factors[i] unless these are null, for i < n, which is a multiple of kPlacesMultiple.
using SampleFunction = void (*)(const float* x, const PlaceTaps& taps, const float* factors,
                                float* y, int64_t n);
SampleFunction SampleFor();

// y[i] = the largest product of its taps, of which there is a multiple of 4: of the largest of each four. What is compared
// with NaN stays, as by std::max.
using SampleLargestFunction = void (*)(const float* x, const PlaceTaps& taps, float* y, int64_t n);
SampleLargestFunction SampleLargestFor();

// Places between elements, at (rows[i] + row + row_offsets[i], columns[i] + column + column_offsets[i]).
struct MovedPlaces {
  const int32_t *rows, *columns;  // below 2^29, as the next two
  int32_t row, column;
  const float *row_offsets, *column_offsets;
  int32_t height, width;  // of the image, around which there are zeros
};
// The four taps of each of n places, a multiple of kPlacesMultiple, for linear interpolation: indices[t * n + i], and
// weights likewise.
using MovedTapsFunction = void (*)(const MovedPlaces& places, int64_t n, int32_t* indices,
                                   float* weights);
MovedTapsFunction MovedTapsFor();

}  // namespace weft::kernels::simd

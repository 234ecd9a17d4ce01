// Loops over rows of floats that count in double, on the calling thread.
#pragma once

#include <cstdint>

namespace weft::kernels::simd {

double SumOfRow(const float* x, int64_t n);
double SumOfMagnitudes(const float* x, int64_t n);
double SumOfSquaredDistances(const float* x, int64_t n, double mean);
// y = (x - mean) / divisor
void NormalizeRow(const float* x, int64_t n, double mean, double divisor, float* y);

// Divides columns of a row-major [rows, stride], of which x and y hold n <= kNormColumns, by the sum of their
// magnitudes, or with `squares` by the root of the sum of their squares; by 0 gives 0.
inline constexpr int64_t kNormColumns = 256;
void DivideByNorms(const float* x, int64_t rows, int64_t stride, int64_t n, bool squares, float* y);

// y[i] = x[i] / (bias + factor * s)^beta, where s is the sum of the squares of first[i + k * stride] for k < rows.
struct ResponseArguments {
  const float* x = nullptr;
  const float* first = nullptr;
  int64_t stride = 0, rows = 0;
  double bias = 0, factor = 0, beta = 0;
};
void NormalizeResponses(const ResponseArguments& arguments, int64_t n, float* y);

}  // namespace weft::kernels::simd

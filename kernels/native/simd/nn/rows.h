// Loops over rows of floats that count in double, on the calling thread.
#pragma once

#include <cstdint>

namespace weft::kernels::simd {

double SumOfRow(const float* x, int64_t n);
double SumOfSquaredDistances(const float* x, int64_t n, double mean);
// y = (x - mean) / divisor
void NormalizeRow(const float* x, int64_t n, double mean, double divisor, float* y);

// y[i] = x[i] / (bias + factor * s)^beta, where s is the sum of the squares of first[i + k * stride] for k < rows.
struct ResponseArguments {
  const float* x = nullptr;
  const float* first = nullptr;
  int64_t stride = 0, rows = 0;
  double bias = 0, factor = 0, beta = 0;
};
void NormalizeResponses(const ResponseArguments& arguments, int64_t n, float* y);

}  // namespace weft::kernels::simd

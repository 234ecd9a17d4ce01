// Softmax of `n` numbers that are `stride` apart, in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::kernels::reference {

inline double LargestOf(const double* x, int64_t n, int64_t stride) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, x[i * stride]);
  return largest;
}

inline void SoftmaxRow(double* x, int64_t n, int64_t stride) {
  const double largest = LargestOf(x, n, stride);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i * stride] = std::exp(x[i * stride] - largest);
    sum += x[i * stride];
  }
  for (int64_t i = 0; i < n; ++i) x[i * stride] /= sum;
}

inline void LogSoftmaxRow(double* x, int64_t n, int64_t stride) {
  const double largest = LargestOf(x, n, stride);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i * stride] - largest);
  const double log = std::log(sum);
  for (int64_t i = 0; i < n; ++i) x[i * stride] = x[i * stride] - largest - log;
}

}  // namespace weft::kernels::reference

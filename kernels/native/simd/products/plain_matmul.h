// Products of matrices of f64, and of integers of 32 and 64 bits, which wrap around (as unsigned ones). For f32: gemm.h.
//
// Every element of the result is a sum over k in order, each product rounded on its own: f64 has the bits of the plain
// loop, on every instruction set and for any number of threads.
#pragma once

#include <cstdint>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// For every index of `batch`: C = A B, with A [m, k], B [k, n] and C [m, n]. Strides count elements; columns of C are next
// to each other. C must not overlap A or B.
template <class T>
struct MatmulArguments {
  Dims batch = {};
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const T* a = nullptr;
  Dims a_batch_strides = {};
  int64_t a_row_stride = 0;
  int64_t a_column_stride = 1;
  const T* b = nullptr;
  Dims b_batch_strides = {};
  int64_t b_row_stride = 0;
  int64_t b_column_stride = 1;
  T* c = nullptr;
  Dims c_batch_strides = {};
  int64_t c_stride = 0;
};
// T: double, uint32_t, uint64_t.
template <class T>
void Matmul(const MatmulArguments<T>& arguments, ThreadPool& pool);

// Y = alpha Y + beta X for a dense Y [rows, columns]. X: null, or read by these strides, of which that of columns is 0 or 1.
// T: float, double.
template <class T>
struct ScaledSum {
  int64_t rows = 0;
  int64_t columns = 0;
  T alpha = 1;
  T* y = nullptr;
  T beta = 1;
  const T* x = nullptr;
  int64_t x_row_stride = 0;
  int64_t x_column_stride = 0;
};
template <class T>
void AddScaled(const ScaledSum<T>& sum, ThreadPool& pool);

}  // namespace weft::kernels::simd

// The sizes of matrix products.
#pragma once

#include <span>

#include "kernels/shape_math.h"

namespace weft::kernels::reference {

// numpy.matmul: a vector on the left is a row, on the right a column; leading dims broadcast.
struct MatMulShape {
  Dims batch;                 // leading dims of the result
  Dims a_strides, b_strides;  // in matrices
  int64_t m, k, n;

  MatMulShape(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int64_t> y) {
    const bool a_vector = a.size() == 1, b_vector = b.size() == 1;
    k = a.back();
    m = a_vector ? 1 : a[a.size() - 2];
    n = b_vector ? 1 : b.back();
    batch = Dims(y.first(y.size() - (a_vector ? 0 : 1) - (b_vector ? 0 : 1)));
    a_strides = BroadcastStrides(a_vector ? a.first(0) : a.first(a.size() - 2), batch);
    b_strides = BroadcastStrides(b_vector ? b.first(0) : b.first(b.size() - 2), batch);
  }
};

}  // namespace weft::kernels::reference

// The sizes of onnx.MatMul and onnx.Gemm, for products of any type.
#pragma once

#include <span>

#include "ir/dialects/onnx/matmul.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/products/plain_matmul.h"

namespace weft::kernels::native {

// numpy.matmul: a vector on the left is a row, on the right a column; leading dims broadcast.
struct MatMulShape {
  int64_t m, k, n;
  Dims batch;                 // leading dims of the result
  Dims a_strides, b_strides;  // from a matrix to the next, in elements

  MatMulShape(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int64_t> y)
      : m(a.size() == 1 ? 1 : a[a.size() - 2]), k(a.back()), n(b.size() == 1 ? 1 : b.back()) {
    batch = Dims(y.first(y.size() - (a.size() == 1 ? 0 : 1) - (b.size() == 1 ? 0 : 1)));
    a_strides = StridesOf(a, m * k);
    b_strides = StridesOf(b, k * n);
  }

 private:
  Dims StridesOf(std::span<const int64_t> dims, int64_t matrix) const {
    Dims s = BroadcastStrides(dims.first(dims.size() - std::min<size_t>(dims.size(), 2)), batch);
    for (int i = 0; i < s.size(); ++i) s[i] *= matrix;
    return s;
  }
};

// What onnx.Gemm makes of its product.
template <class T>
simd::ScaledSum<T> ScaledSumOf(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::ops::Gemm>();
  const std::span<const int64_t> y = context.result_dims(0);
  simd::ScaledSum<T> sum = {
      .rows = y[0], .columns = y[1], .alpha = T(attrs.alpha), .beta = T(attrs.beta)};
  if (!context.HasInput(2)) return sum;
  const Dims strides = BroadcastStrides(context.dims(2), y);
  sum.x_row_stride = strides[0];
  sum.x_column_stride = strides[1];
  return sum;
}

}  // namespace weft::kernels::native

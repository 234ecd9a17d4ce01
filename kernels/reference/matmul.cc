// Matrix products.
#include "ir/dialects/onnx.h"
#include "kernels/reference/matmul_shape.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// A matrix in double or in 64-bit integers, [rows, columns].
template <class T>
struct Matrix {
  const T* data;
  int64_t rows, columns;
};

// One row of a . b: the sum over k runs in order, for all columns at once.
template <class T>
void RowProduct(const T* a_row, const Matrix<T>& b, std::vector<T>& sums) {
  std::fill(sums.begin(), sums.end(), T(0));
  for (int64_t k = 0; k < b.rows; ++k) {
    const T a = a_row[k];
    const T* b_row = b.data + k * b.columns;
    for (int64_t n = 0; n < b.columns; ++n) sums[n] += a * b_row[n];
  }
}

// Calls store(row of y, sums) for each row of a . b.
template <class T, class Store>
void Product(const Matrix<T>& a, const Matrix<T>& b, ThreadPool& pool, const Store& store) {
  pool.ParallelFor(a.rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<T> sums(static_cast<size_t>(b.columns));
    for (int64_t m = begin; m < end; ++m) {
      RowProduct(a.data + m * a.columns, b, sums);
      store(m, sums);
    }
  });
}

template <class T, class Store>
void MatMulIn(const MatMulShape& s, const std::vector<T>& a, const std::vector<T>& b,
              ThreadPool& pool, const Store& store) {
  int64_t row = 0;
  for (Odometer<2> at(s.batch, {s.a_strides, s.b_strides}); !at.done(); at.Next(), row += s.m) {
    Product<T>({a.data() + at.offset[0] * s.m * s.k, s.m, s.k},
               {b.data() + at.offset[1] * s.k * s.n, s.k, s.n}, pool,
               [&](int64_t m, const std::vector<T>& sums) { store((row + m) * s.n, sums); });
  }
}

absl::Status MatMul(const AttrsOf<ops::MatMul>&, const KernelArgs& args) {
  const TensorView &a = args.inputs[0], &b = args.inputs[1], &y = args.outputs[0];
  const MatMulShape shape(a.dims, b.dims, y.dims);
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    T* out = args.output<T>(0);
    const auto store = [&](int64_t at, const auto& sums) {
      for (size_t n = 0; n < sums.size(); ++n) out[at + n] = T(sums[n]);
    };
    if constexpr (kIsFloat<T>) {
      MatMulIn(shape, ReadDoubles(a), ReadDoubles(b), *args.pool, store);
    } else {
      const std::vector<int64_t> wide_a = ReadInts(a), wide_b = ReadInts(b);
      MatMulIn(shape, std::vector<uint64_t>(wide_a.begin(), wide_a.end()),
               std::vector<uint64_t>(wide_b.begin(), wide_b.end()), *args.pool, store);
    }
  });
  return absl::OkStatus();
}
const RegisterReference<ops::MatMul> kMatMul(&MatMul, &SameNumbers);

std::vector<double> ReadMatrix(const TensorView& tensor, bool transpose) {
  std::vector<double> values = ReadDoubles(tensor);
  if (!transpose) return values;
  const int64_t rows = tensor.dims[0], columns = tensor.dims[1];
  std::vector<double> transposed(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) transposed[j * rows + i] = values[i * columns + j];
  return transposed;
}

absl::Status Gemm(const AttrsOf<ops::Gemm>& attrs, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const std::vector<double> a = ReadMatrix(args.inputs[0], attrs.transA != 0);
  const std::vector<double> b = ReadMatrix(args.inputs[1], attrs.transB != 0);
  const int64_t m = y.dims[0], n = y.dims[1];
  const int64_t k = args.inputs[0].dims[attrs.transA != 0 ? 0 : 1];
  std::vector<double> result(static_cast<size_t>(m * n));
  if (args.HasInput(2)) {
    const std::vector<double> c = ReadDoubles(args.inputs[2]);
    int64_t i = 0;
    for (Odometer<1> at(y.dims, {BroadcastStrides(args.inputs[2].dims, y.dims)}); !at.done();
         at.Next())
      result[i++] = attrs.beta * c[at.offset[0]];
  }
  Product<double>({a.data(), m, k}, {b.data(), k, n}, *args.pool,
                  [&](int64_t row, const std::vector<double>& sums) {
                    for (int64_t i = 0; i < n; ++i) result[row * n + i] += attrs.alpha * sums[i];
                  });
  WriteDoubles(result, y);
  return absl::OkStatus();
}
const RegisterReference<ops::Gemm> kGemm(&Gemm, &SameFloats);

}  // namespace
}  // namespace weft::kernels::reference

// Matrix products: C = activation(A B + bias + residual) with B packed once, and batched products
// of two activations.
//
//   PackedMatrix weights = PackedMatrix::Pack(w, /*row_stride=*/n, /*column_stride=*/1, k, n,
//   pool); Gemm({.m = m, .a = x, .a_stride = k, .b = &weights, .c = y, .c_stride = n, .bias =
//   bias}, pool);
//
// Rows of A, C and the residual are contiguous, any stride apart (in floats). Every element of C is
// bias, then one chain of multiply-adds in the order of k, then the residual and the activation:
// the same for every number of threads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "kernels/native/simd/activation.h"
#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Where weights are read when they are packed: memory, or what a function copies from elsewhere.
class WeightSource {
 public:
  // Fills `to` with the elements from `first` on. Called on all threads.
  using ReadFunction = std::function<void(int64_t first, std::span<float> to)>;

  WeightSource(const float* data)
      : data_(data) {}  // NOLINT: as natural as a string_view of a string
  explicit WeightSource(ReadFunction read) : read_(std::move(read)) {}

  bool is_in_memory() const { return read_ == nullptr; }
  // `count` elements from `first` on: where they lie, or in scratch of this thread, until the next call.
  const float* At(int64_t first, int64_t count) const;
  // The elements from `first` on, for as long as *this lives.
  WeightSource From(int64_t first) const;

 private:
  const float* data_ = nullptr;
  ReadFunction read_;
};

// A k x n matrix laid out for Gemm. Immutable once packed; may be shared by any number of runs.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // 4 k (n rounded up to 16).
  static int64_t BytesOf(int64_t k, int64_t n);
  // Element (i, j) is b[i * row_stride + j * column_stride]: strides n, 1 for a row-major matrix,
  // 1, k for a transposed one. Into `memory`, 64-byte aligned, which must outlive the matrix; else into its own.
  static PackedMatrix Pack(const WeightSource& b, int64_t row_stride, int64_t column_stride,
                           int64_t k, int64_t n, ThreadPool& pool, float* memory = nullptr);
  // The same from a matrix that lies in no such way: `write` writes columns [first, first + columns) to `panel`,
  // k rows of `width` floats, which are 0 beyond the columns. It is called on all threads.
  struct Panel {
    float* data;
    int64_t width, first, columns;
  };
  static PackedMatrix PackBy(int64_t k, int64_t n, ThreadPool& pool,
                             const std::function<void(const Panel& panel)>& write,
                             float* memory = nullptr);

  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  const float* data() const { return data_; }
  int64_t bytes() const { return BytesOf(k_, n_); }

 private:
  static PackedMatrix In(float* memory, int64_t k, int64_t n);
  float* PanelAt(int64_t first) { return data_ + first * k_; }
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> own_;  // null in memory of others
  float* data_ = nullptr;
  int64_t k_ = 0;
  int64_t n_ = 0;
};

struct GemmArguments {
  int64_t m = 0;
  const float* a = nullptr;  // [m, k]
  int64_t a_stride = 0;
  const PackedMatrix* b = nullptr;  // [k, n]
  float* c = nullptr;               // [m, n]; must not overlap a
  int64_t c_stride = 0;
  const float* bias = nullptr;      // [n], optional
  const float* residual = nullptr;  // [m, n], optional; may be c
  int64_t residual_stride = 0;
  Activation activation = {};
};
void Gemm(const GemmArguments& arguments, ThreadPool& pool);

// For every index of `batch`: C = activation(A B), with A [m, k], B [k, n] or, if b_transposed, [n,
// k], and C [m, n].
struct BatchMatmulArguments {
  Dims batch = {};
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const float* a = nullptr;
  Dims a_batch_strides = {};
  int64_t a_stride = 0;
  const float* b = nullptr;
  Dims b_batch_strides = {};
  int64_t b_stride = 0;  // between rows of B as it lies in memory
  bool b_transposed = false;
  float* c = nullptr;
  Dims c_batch_strides = {};
  int64_t c_stride = 0;
  Activation activation = {};

  // For a dense C whose rows are to be `stride` floats apart.
  void SpaceRowsOfC(int64_t stride) {
    for (int i = 0; i < batch.size(); ++i) c_batch_strides[i] = c_batch_strides[i] / n * stride;
    c_stride = stride;
  }
};
// `scratch` is 64-byte aligned and holds BatchMatmulScratchBytes for the pool's threads. B is
// packed into it, or read in place where that is faster.
int64_t BatchMatmulScratchBytes(const BatchMatmulArguments& arguments, int num_threads);
void BatchMatmul(const BatchMatmulArguments& arguments, void* scratch, ThreadPool& pool);
// Whether that makes it of dot products of rows (dot_products.h).
bool IsMadeOfDots(const BatchMatmulArguments& arguments);

}  // namespace weft::kernels::simd

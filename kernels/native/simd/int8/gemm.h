// Products of 8-bit integers, exact in 32 bits: C = finish((A - a_zero) (B - b_zeros) + bias), with B
// packed once.
//
//   Int8Matrix w = Int8Matrix::Pack({.b = w, .b_signed = true, ...}, pool);
//   Int8Gemm({.m = m, .a = x, .a_stride = k, .a_zero = 128, .b = &w, .result = {...}}, pool);
//
// A and B are u8 or i8, in any combination. VNNI and the tiles of AMX multiply bytes of A by bytes of B
// of the other sign, so B is packed as what A is not: with 128 more or less than it has, and so its zero
// points. Zero points are taken off at the end, by the sums of columns, known since B was packed, and of
// rows, which are made only where a zero point of B as it is packed is not 0.
//
// What multiplies is chosen by CurrentIsa(): dot products of four bytes (VNNI, or in 16 bits where there
// is none) or tiles. All have the same sums, so that results do not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/isa.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

inline constexpr int64_t kInt8Panel = 16;  // columns of B next to each other
inline constexpr int64_t kInt8Group = 4;   // rows of B next to each other in a panel
inline constexpr int64_t kInt8Chunk = 64;  // rows of B are filled up to this many with zeros
// What is read behind the last row of A, and not used.
inline constexpr int64_t kInt8ReadsPast = 64;

struct Int8Source {
  const std::byte* b = nullptr;  // element (i, j) at i * row_stride + j * column_stride
  int64_t row_stride = 0, column_stride = 0;
  int64_t k = 0, n = 0;
  bool b_signed = false, a_signed = false;
  std::span<const int> zeros = {};  // of B: none, one or n
};

// Panels of kInt8Panel columns, each [k / 4, column, 4] bytes. Immutable; may be shared by runs.
class Int8Matrix {
 public:
  Int8Matrix() = default;
  static Int8Matrix Pack(const Int8Source& source, ThreadPool& pool);

  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  bool a_signed() const { return a_signed_; }
  const std::byte* data() const { return data_.get(); }
  int64_t panel_bytes() const { return panel_bytes_; }
  // Of a column: its sum as it is packed less k times its zero point.
  std::span<const int32_t> column_sums() const { return column_sums_; }
  // As B is packed; empty where all are 0.
  std::span<const int32_t> zeros() const { return zeros_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t k_ = 0, n_ = 0, panel_bytes_ = 0;
  bool a_signed_ = false;
  std::vector<int32_t> column_sums_, zeros_;  // filled up to whole panels
};

// What becomes of a sum s, which is modulo 2^32.
struct Int8Result {
  enum class Kind {
    kInt32,  // s
    kByte,   // low <= nearest(s * scales[j]) + zero <= high, halves to even, in f32
    kFloat,  // s * scales[j] + float_bias[j], each rounded to f32
  };
  Kind kind = Kind::kInt32;
  void* c = nullptr;                  // int32_t, uint8_t (for low < 0 int8_t) or float
  int64_t c_stride = 0;               // numbers
  const float* scales = nullptr;      // [n]
  const float* float_bias = nullptr;  // [n], optional
  int zero = 0, low = 0, high = 255;

  int64_t element_bytes() const { return kind == Kind::kByte ? 1 : 4; }
};

struct Int8Kernels;

struct Int8GemmArguments {
  int64_t m = 0;
  const std::byte* a = nullptr;  // [m, k]; kInt8ReadsPast bytes behind it may be read
  int64_t a_stride = 0;
  int a_zero = 0;
  // Where A is made when it is needed: writes k bytes each of rows [first, first + rows), `stride`
  // apart. Then `a` is null.
  void (*gather)(const void* context, int64_t first, int64_t rows, std::byte* to,
                 int64_t stride) = nullptr;
  const void* context = nullptr;
  const Int8Matrix* b = nullptr;
  const int32_t* bias = nullptr;  // [n], optional
  Int8Result result = {};
  const Int8Kernels* kernels = nullptr;  // for tests; null: the best for these sizes
};
void Int8Gemm(const Int8GemmArguments& arguments, ThreadPool& pool);

// Some rows of A by some panels of B.
struct Int8Product {
  const std::byte* a = nullptr;
  int64_t a_stride = 0;
  int64_t rows = 0;
  const Int8Matrix* b = nullptr;
  int64_t first_panel = 0, last_panel = 0;
  const int32_t* offsets = nullptr;   // added to the sums of a column, in whole panels
  const int32_t* row_sums = nullptr;  // of A; null where B has no zero points
  const float* scales = nullptr;      // in whole panels
  const float* float_bias = nullptr;  // likewise, or null
  Int8Result result = {};             // c at the first row, column 0
};

// An implementation.
struct Int8Kernels {
  std::string_view name;
  bool on_tiles;
  void (*run)(const Int8Product& product);
};
// All that run on this machine, for tests. The first is in plain code, the second on emulated tiles.
std::span<const Int8Kernels* const> SupportedInt8Kernels();

}  // namespace weft::kernels::simd

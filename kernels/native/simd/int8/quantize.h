// Between floats and 8-bit integers, and sums and products of such: one pass each, of one thread.
#pragma once

#include <cstdint>

namespace weft::kernels::simd {

struct ByteScale {
  bool is_signed = false;
  float scale = 1;
  int zero = 0;
};

// y = nearest(x / scale) + zero within the type, halves to even; NaN is the largest.
void QuantizeBytes(const float* x, uint8_t* y, int64_t n, const ByteScale& q);
// y = (x - zero) * scale
void DequantizeBytes(const uint8_t* x, float* y, int64_t n, const ByteScale& q);

// The same with a scale and a zero point for each element.
struct ByteScales {
  bool is_signed = false;
  const float* scales = nullptr;
  const int32_t* zeros = nullptr;
};
void QuantizeBytesEach(const float* x, uint8_t* y, int64_t n, const ByteScales& q);
void DequantizeBytesEach(const uint8_t* x, float* y, int64_t n, const ByteScales& q);

// Makes *low and *high the least and the largest of themselves and of x; NaN is left out.
void FindBounds(const float* x, int64_t n, float* low, float* high);

enum class ByteOp { kAdd, kMul };
// y = op(a, b), quantised between the bounds; every step is rounded to f32.
struct ByteBinary {
  ByteOp op = ByteOp::kAdd;
  ByteScale a, b, y;
  int low = 0, high = 255;
};
void BinaryBytes(const ByteBinary& binary, const uint8_t* a, const uint8_t* b, uint8_t* y,
                 int64_t n);

// y[i] = the largest of rows[k][i], k < count; count is at least 1, and y may be one of the rows.
void MaxOfBytes(const uint8_t* const* rows, int64_t count, bool is_signed, uint8_t* y, int64_t n);

}  // namespace weft::kernels::simd

#include "kernels/native/simd/int8/quantize.h"

#include <cmath>

#define WEFT_ISA_BODY "kernels/native/simd/int8/quantize_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

void QuantizeBytes(const float* x, uint8_t* y, int64_t n, const ByteScale& q) {
  WEFT_DISPATCH(QuantizeRange)(x, y, n, q);
}
void DequantizeBytes(const uint8_t* x, float* y, int64_t n, const ByteScale& q) {
  WEFT_DISPATCH(DequantizeRange)(x, y, n, q);
}
void QuantizeBytesEach(const float* x, uint8_t* y, int64_t n, const ByteScales& q) {
  WEFT_DISPATCH(QuantizeEach)(x, y, n, q);
}
void DequantizeBytesEach(const uint8_t* x, float* y, int64_t n, const ByteScales& q) {
  WEFT_DISPATCH(DequantizeEach)(x, y, n, q);
}
void FindBounds(const float* x, int64_t n, float* low, float* high) {
  WEFT_DISPATCH(FindBoundsOf)(x, n, low, high);
}
void BinaryBytes(const ByteBinary& binary, const uint8_t* a, const uint8_t* b, uint8_t* y,
                 int64_t n) {
  WEFT_DISPATCH(BinaryRange)(binary, a, b, y, n);
}
void MaxOfBytes(const uint8_t* const* rows, int64_t count, bool is_signed, uint8_t* y, int64_t n) {
  WEFT_DISPATCH(MaxOfRows)(rows, count, is_signed, y, n);
}

}  // namespace weft::kernels::simd

#include "kernels/native/simd/nn/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/nn/rows_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

double SumOfRow(const float* x, int64_t n) { return WEFT_DISPATCH(SumRow)(x, n); }
double SumOfMagnitudes(const float* x, int64_t n) { return WEFT_DISPATCH(SumMagnitudes)(x, n); }
double SumOfSquaredDistances(const float* x, int64_t n, double mean) {
  return WEFT_DISPATCH(SumSquares)(x, n, mean);
}
void NormalizeRow(const float* x, int64_t n, double mean, double divisor, float* y) {
  WEFT_DISPATCH(DivideRow)(x, n, mean, divisor, y);
}
void DivideByNorms(const float* x, int64_t rows, int64_t stride, int64_t n, bool squares,
                   float* y) {
  WEFT_DISPATCH(DivideColumns)(x, rows, stride, n, squares, y);
}
void NormalizeResponses(const ResponseArguments& arguments, int64_t n, float* y) {
  WEFT_DISPATCH(DivideResponses)(arguments, n, y);
}

}  // namespace weft::kernels::simd

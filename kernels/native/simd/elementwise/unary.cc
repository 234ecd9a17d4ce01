#include "kernels/native/simd/elementwise/unary.h"

#include "kernels/native/simd/elementwise/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/unary_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

int64_t CostOf(UnaryOp op) {
  switch (op) {
    case UnaryOp::kExp:
    case UnaryOp::kLog:
    case UnaryOp::kErf:
    case UnaryOp::kTanh:
    case UnaryOp::kSigmoid:
    case UnaryOp::kSoftplus:
    case UnaryOp::kMish:
    case UnaryOp::kGelu:
    case UnaryOp::kGeluTanh:
    case UnaryOp::kSqrt:
    case UnaryOp::kReciprocal:
    case UnaryOp::kElu:
    case UnaryOp::kSelu:
    case UnaryOp::kCelu:
    case UnaryOp::kSoftsign:
      return 4;
    default:
      return 2;
  }
}

void UnaryOnRow(UnaryOp op, const UnaryParams& params, const float* x, float* y, int64_t n) {
  WEFT_DISPATCH(UnaryRange)(op, params, x, y, n);
}

void Unary(UnaryOp op, const UnaryParams& params, const float* x, float* y, int64_t n,
           ThreadPool& pool) {
  const auto range = WEFT_DISPATCH(UnaryRange);
  pool.ParallelFor(n, TileFor(n, CostOf(op)), [=](int64_t begin, int64_t end) {
    range(op, params, x + begin, y + begin, end - begin);
  });
}

}  // namespace weft::kernels::simd

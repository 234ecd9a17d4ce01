// Elementwise functions of one float array.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class UnaryOp {
  kAbs,
  kNeg,
  kRelu,
  kSqrt,
  kExp,
  kLog,
  kErf,
  kTanh,
  kSigmoid,
  kSoftplus,     // log(1 + exp(x))
  kMish,         // x tanh(log(1 + exp(x)))
  kGelu,         // x / 2 (1 + erf(x / sqrt 2))
  kGeluTanh,     // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kHardSigmoid,  // max(0, min(1, a x + b))
  kHardSwish,    // x max(0, min(1, x / 6 + 1 / 2))
  kClip,         // max(a, min(b, x)); infinities for no bound
  kLeakyRelu,    // x < 0 ? a x : x
  kReciprocal,
  kSquare,
  kFloor,
  kCeil,
  kRound,            // halves to even
  kSign,             // -1, 0 or 1
  kElu,              // x < 0 ? a (exp(x) - 1) : x
  kSelu,             // a (x > 0 ? x : b (exp(x) - 1))
  kCelu,             // x > 0 ? x : a (exp(x / a) - 1), for a > 0
  kSoftsign,         // x / (1 + |x|)
  kThresholdedRelu,  // x <= a ? 0 : x
  kShrink,           // x < -a ? x + b : x > a ? x - b : 0
};

struct UnaryParams {
  float a = 0;
  float b = 0;
};

// y[i] = op(x[i]) for i < n; y may be x. Errors: see math.inc. NaN in, NaN out.
void Unary(UnaryOp op, const UnaryParams& params, const float* x, float* y, int64_t n,
           ThreadPool& pool);

}  // namespace weft::kernels::simd

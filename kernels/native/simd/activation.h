// The activations that kernels fuse, and their application to a matrix.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class ActivationKind {
  kNone,
  kRelu,
  kClip,  // max(a, min(b, x))
  kGelu,  // x / 2 (1 + erf(x / sqrt 2))
  kTanh,
  kSigmoid,
  kHardSigmoid,  // max(0, min(1, a x + b))
  kHardSwish,    // x max(0, min(1, x / 6 + 1 / 2))
  kSwish,        // x / (1 + exp(-x))
  kGeluTanh,     // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
};

struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  float a = 0;
  float b = 0;
};

// y[i][j] = activation(x[i][j] + bias[j]) for row-major x and y; y may be x, bias may be null.
void BiasActivation(const float* x, const float* bias, const Activation& activation, float* y,
                    int64_t rows, int64_t columns, ThreadPool& pool);

}  // namespace weft::kernels::simd

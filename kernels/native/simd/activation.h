// The activations that kernels fuse, and their application to a matrix.
#pragma once

#include <cstdint>

#include "ir/dialects/fused/activation_kind.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

using ActivationKind = ir::fused::Activation;

// The parameters of Clip are a <= b: max(a, min(b, x)), of HardSigmoid max(0, min(1, a x + b)), of
// LeakyRelu x < 0 ? a x : x.
struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  float a = 0;
  float b = 0;
};

// The activations that kernels apply to sums while these are in registers.
struct RegisterActivation {
  bool clamp = false;
  float lowest = 0;
  float highest = 0;
  bool hard_swish = false;
};
// Into one that applies nothing yet. Returns whether the activation is another, to be applied to what is stored.
bool FoldActivation(const Activation& activation, RegisterActivation* in_registers);

// y[i][j] = activation(x[i][j] + bias[j]) for row-major x and y; y may be x, bias may be null.
void BiasActivation(const float* x, const float* bias, const Activation& activation, float* y,
                    int64_t rows, int64_t columns, ThreadPool& pool);

}  // namespace weft::kernels::simd

// Elementwise functions of any number of float arrays with broadcasting, as binary.h has it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// kMax and kMin of a NaN are NaN.
enum class VariadicOp { kSum, kMean, kMax, kMin };

struct VariadicOperand {
  const float* data;
  Dims strides;  // in elements, 0 where it is broadcast
};

// Sums are formed in double, in the order of the operands, and rounded once. At least one operand. y may be an operand
// that is not broadcast.
void Variadic(VariadicOp op, std::span<const VariadicOperand> operands, float* y,
              std::span<const int64_t> shape, ThreadPool& pool);

}  // namespace weft::kernels::simd

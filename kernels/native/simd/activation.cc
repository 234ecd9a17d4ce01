#include "kernels/native/simd/activation.h"

#include <limits>

#define WEFT_ISA_BODY "kernels/native/simd/activation_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

bool FoldActivation(const Activation& activation, RegisterActivation* in_registers) {
  switch (activation.kind) {
    case ActivationKind::kNone:
      return false;
    case ActivationKind::kRelu:
      in_registers->clamp = true;
      in_registers->lowest = 0;
      in_registers->highest = std::numeric_limits<float>::infinity();
      return false;
    case ActivationKind::kClip:
      in_registers->clamp = true;
      in_registers->lowest = activation.a;
      in_registers->highest = activation.b;
      return false;
    case ActivationKind::kHardSwish:
      in_registers->hard_swish = true;
      return false;
    default:
      return true;
  }
}

void BiasActivation(const float* x, const float* bias, const Activation& activation, float* y,
                    int64_t rows, int64_t columns, ThreadPool& pool) {
  const auto range = WEFT_DISPATCH(BiasActivationRows);
  pool.ParallelFor(rows, TileFor(rows, 4 * columns), [=](int64_t begin, int64_t end) {
    range(x + begin * columns, bias, activation, y + begin * columns, end - begin, columns);
  });
}

}  // namespace weft::kernels::simd

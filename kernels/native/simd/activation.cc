#include "kernels/native/simd/activation.h"

#define WEFT_ISA_BODY "kernels/native/simd/activation_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

void BiasActivation(const float* x, const float* bias, const Activation& activation, float* y,
                    int64_t rows, int64_t columns, ThreadPool& pool) {
  const auto range = WEFT_DISPATCH(BiasActivationRows);
  pool.ParallelFor(rows, TileFor(rows, 4 * columns), [=](int64_t begin, int64_t end) {
    range(x + begin * columns, bias, activation, y + begin * columns, end - begin, columns);
  });
}

}  // namespace weft::kernels::simd

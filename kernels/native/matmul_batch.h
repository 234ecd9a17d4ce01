// Running batched products.
#pragma once

#include "kernels/kernel.h"
#include "kernels/native/simd/gemm.h"

namespace weft::kernels::native {

// The product of operands 0 and 1 to result 0, whose rows the plan may have spaced.
void RunBatchMatmul(simd::BatchMatmulArguments product, const KernelArgs& args);

}  // namespace weft::kernels::native

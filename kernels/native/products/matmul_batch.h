// Running batched products.
#pragma once

#include <vector>

#include "kernels/native/native.h"
#include "kernels/native/simd/gemm.h"

namespace weft::kernels::native {

// The rows of operands 0 and 1 that RunBatchMatmul reads apart from each other, in the scratch memory of dense ones.
std::vector<NativeOptions::RowLimits> SpacedRowsOf(const simd::BatchMatmulArguments& product);

// The product of `a`, which lies as operand 0 or is dense, and operand 1 to result 0, whose rows, and those of the operands,
// the plan may have spaced.
void RunBatchMatmul(simd::BatchMatmulArguments product, const float* a, const KernelArgs& args);

}  // namespace weft::kernels::native

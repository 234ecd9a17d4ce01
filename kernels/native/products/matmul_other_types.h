// Matrix products of f64 and of integers.
#pragma once

#include "kernels/native/native.h"

namespace weft::kernels::native {

// onnx.MatMul of f64 and of integers of 32 and 64 bits, onnx.Gemm of f64.
Made MakeMatMulOfOtherTypes(const KernelContext& context);
Made MakeGemmOfOtherTypes(const KernelContext& context);

}  // namespace weft::kernels::native

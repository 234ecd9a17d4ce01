// Kernels of ops of any number of f32 operands.
#pragma once

#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/variadic.h"

namespace weft::kernels::native {

Made MakeVariadic(const KernelContext& context, simd::VariadicOp op);

}  // namespace weft::kernels::native

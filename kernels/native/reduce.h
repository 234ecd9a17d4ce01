// Reductions, for the ops that are one by another name.
#pragma once

#include "ir/attribute.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/normalize.h"

namespace weft::kernels::native {

// Operand 0 (f32) over `axes`, all when empty; Unsupported unless they lie side by side.
Made MakeReduction(const KernelContext& context, simd::ReduceOp op, const ir::Ints& axes);

}  // namespace weft::kernels::native

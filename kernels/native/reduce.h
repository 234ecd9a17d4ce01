// Reductions, for the ops that are one by another name.
#pragma once

#include "ir/attribute.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/reduction/reduce.h"

namespace weft::kernels::native {

// Operand 0 over `axes`, all when empty: f32, f64 and, where `op` is of integers, those of 8 to 64 bits.
Made MakeReduction(const KernelContext& context, simd::ReduceOp op, const ir::Ints& axes);

}  // namespace weft::kernels::native

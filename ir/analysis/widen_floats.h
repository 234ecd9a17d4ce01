// f16 and bf16 computed in f32, for kernels that know f32 only.
//
// Arithmetic gets f32 operands and results, with a Cast where a value enters or leaves a region of
// such ops; ops that move elements join where what they move comes from there. In a region nothing
// is rounded to 16 bits, so results have more digits than with a rounding per op, and what passes
// 65504 between two ops of a region is no infinity: as in ONNX Runtime on a CPU.
//
// Rounded as before is all that the program shows or asks for: its inputs and outputs; what a Cast,
// CastLike or BitCast reads or gives; what is quantised; what IsInf and IsNaN look at; what is compared,
// by Equal, Less and the like (in f32, after a Cast there and back), NonZero and Unique; what If gives;
// what sequences hold; what random ops give. Regions are widened too. What a Loop or Scan takes, carries
// and gives is cast once, before and after it, where its body computes.
#pragma once

#include <cstddef>

#include "ir/program.h"

namespace weft::ir {

// The number of ops that compute in f32 now. Another call changes nothing.
size_t WidenFloats(Program& program);

}  // namespace weft::ir

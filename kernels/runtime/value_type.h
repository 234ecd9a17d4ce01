// Values at run time and the types that a program states for them.
#pragma once

#include <string>

#include "ir/context.h"
#include "kernels/runtime_value.h"

namespace weft::kernels {

// Whether the value may stand where `stated` is: a tensor of that type, a sequence for a sequence,
// either or nothing for an optional. Nobody looks at the elements of a sequence.
bool Fits(const RuntimeValue& value, ir::Type stated, ir::IrContext& context);

// Whether plans hold values of the type: tensors whose elements are plain bytes.
bool IsInPlans(ir::Type type);
// Whether the type is a tensor of strings, or holds such.
bool HoldsStrings(ir::Type type);

// What keeps kernels from tensors of the type, whose shape is known: "more than 8 dimensions", "elements of type str".
// Empty where nothing does.
std::string WhyNoTensors(ir::Type type);

// What a program is specialised for where the value stands at a place of type `stated`: the exact
// type of a tensor; of others what is stated.
ir::Type TypeOf(const RuntimeValue& value, ir::Type stated, ir::IrContext& context);

// "f32[2,3]", "a sequence of 3", "nothing".
std::string Describe(const RuntimeValue& value);

}  // namespace weft::kernels

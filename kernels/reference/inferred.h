// For kernels that leave the checks of shapes to their op's Infer.
#pragma once

#include <initializer_list>

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {

// Ok when the types that the op was inferred from are those that the kernel is made for, so that
// its operands fit each other and its results. Folding may know more of a constant than its op does.
inline absl::Status CheckInferred(const KernelContext& context) {
  for (uint32_t i = 0; i < context.num_inputs(); ++i)
    if (context.HasInput(i) && context.op().operand(i).type() != context.input_type(i))
      return context.Unsupported("operand " + std::to_string(i) + ", whose type came too late");
  return absl::OkStatus();
}

// The same, and the operands listed that are given are floats; their types may differ.
inline absl::Status CheckInferredFloats(const KernelContext& context,
                                        std::initializer_list<size_t> operands) {
  for (size_t i : operands) {
    if (!context.HasInput(i)) continue;
    const ir::DataType dtype = context.input_type(i).dtype();
    if (!VisitFloat(dtype, [](auto) {}))
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
  return CheckInferred(context);
}

}  // namespace weft::kernels::reference

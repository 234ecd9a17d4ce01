// What the Infer functions of gradient ops share.
#pragma once

#include <initializer_list>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::pd {

// Fails when operand `grad`, the gradient of something of the dims given (nullopt: not known), is
// known to have others.
inline bool CheckGrad(InferContext& c, size_t grad, const Dims& dims) {
  return !dims || CheckShape(c, grad, *dims);
}
// The same for the gradient of operand `of`, whose element type it has too.
inline bool CheckGradOf(InferContext& c, size_t grad, size_t of) {
  DataType dtype;
  return SameDtype(c, {of, grad}, &dtype) && CheckGrad(c, grad, DimsOf(c, of));
}
// Results 0, 1, ... are the gradients of the operands listed.
inline bool SetGradsOf(InferContext& c, std::initializer_list<size_t> operands) {
  size_t result = 0;
  for (size_t operand : operands)
    if (!SetSameAs(c, result++, operand)) return false;
  return true;
}

}  // namespace weft::ir::pd

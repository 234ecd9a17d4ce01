// Optional operands in reference bodies.
#pragma once

#include <span>

#include "ir/builder.h"
#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"

namespace weft::ir::fused {

using ops::OperandOrNull;

// x + operand i, or x when that is not given.
inline Value AddIfGiven(Builder& b, Value x, std::span<const Value> operands, size_t i) {
  const Value other = OperandOrNull(operands, i);
  return other ? b.Make<ops::Add>({x, other}) : x;
}

}  // namespace weft::ir::fused

// Helpers of Infer functions of ops on quantised numbers.
#pragma once

#include <string_view>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

// Fails unless operand i may be u8 or i8.
bool CheckByte(InferContext& c, size_t i);
// Fails unless operand i may be a scalar, a vector of one element or one of *size elements, which it
// may be the first to state.
bool CheckScalarOr(InferContext& c, size_t i, int64_t* size, std::string_view what);

}  // namespace weft::ir

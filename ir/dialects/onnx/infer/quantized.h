// Helpers of Infer functions of ops on quantised numbers.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

// Fails when operand i has a known element type that is none of `allowed`, which the message calls `names`.
bool CheckOneOf(InferContext& c, size_t i, std::initializer_list<DataType> allowed,
                std::string_view names);
// Fails unless operand i may be u8 or i8.
bool CheckByte(InferContext& c, size_t i);
// Fails unless operand i may be a scalar, a vector of one element or one of *size elements, which it
// may be the first to state.
bool CheckScalarOr(InferContext& c, size_t i, int64_t* size, std::string_view what);

}  // namespace weft::ir

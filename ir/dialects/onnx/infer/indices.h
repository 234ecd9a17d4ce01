// Indices that a model has as constants: a body that looks them up is not made of wrong ones.
#pragma once

#include <string_view>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

// Fails when operand i is a constant, as far as KnownInts tells, with an element that is none of the
// indices of `count` things: -count to count - 1. The count may be unknown.
bool CheckIndices(InferContext& c, size_t i, int64_t count, std::string_view of);

}  // namespace weft::ir

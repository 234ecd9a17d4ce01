// The com.microsoft dialect: the operators of ONNX Runtime's domain that models optimised by it are
// full of, and those that it adds to ai.onnx. Files have them as they are; every op has a reference
// body in onnx ops.
#pragma once

#include "ir/dialects/microsoft/activation.h"
#include "ir/dialects/microsoft/attention.h"
#include "ir/dialects/microsoft/matmul.h"
#include "ir/dialects/microsoft/normalization.h"
#include "ir/dialects/microsoft/quantized.h"

namespace weft::ir {

// The onnx dialect too.
void LoadMicrosoftDialect(IrContext& context);

}  // namespace weft::ir

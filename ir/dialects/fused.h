// The fused dialect: what kernels run. Each op is a larger piece of a model - a product with its
// bias, residual and activation; attention; layer normalisation - with a reference body in onnx
// ops (Decompose, or a region) that says what it computes. Convolution and pools work on NHWC
// activations.
//
//   Value y = builder.Make<fused::Linear>({x, w, bias}, {.activation = fused::Activation::kRelu});
//
// An optional operand that is not given is a null Value, or left out at the end.
#pragma once

#include "ir/dialects/fused/attention.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/fused/embedding.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/fused/pool.h"
#include "ir/dialects/fused/quantized_elementwise.h"
#include "ir/dialects/fused/quantized_pool.h"
#include "ir/dialects/fused/quantized_products.h"
#include "ir/dialects/fused/rotary_embedding.h"

namespace weft::ir {

// Loads the onnx dialect too, which the reference bodies need.
void LoadFusedDialect(IrContext& context);

}  // namespace weft::ir

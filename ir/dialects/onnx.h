// The onnx dialect: ONNX operators with the semantics of opset 27, one struct per op, grouped by
// subject. Operation names are "onnx." and the ONNX op_type, attributes have ONNX's names, and
// results and operands come in ONNX's order.
//
//   IrContext context;
//   LoadOnnxDialect(context);
//   Value y = builder.Make<ops::Transpose>({x}, {.perm = {1, 0}});
//
// ONNX's integer attributes are int64_t fields, its booleans too (keepdims = 1). Richer are Cast's
// `to`, a DataType, and all modes (auto_pad, Pad's, Resize's...), enums that are strings in the text
// form. Attributes without an ONNX default are std::optional. There is no onnx.Constant: constants
// are builtin.constant.
#pragma once

#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/creation.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/indexing.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/attention.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/image.h"
#include "ir/dialects/onnx/nn/loss.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/nn/recurrent.h"
#include "ir/dialects/onnx/nn/sampling.h"
#include "ir/dialects/onnx/nn/signal.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/dialects/onnx/quantized_math.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/search.h"
#include "ir/dialects/onnx/sequence.h"
#include "ir/dialects/onnx/shape.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context);

}  // namespace weft::ir

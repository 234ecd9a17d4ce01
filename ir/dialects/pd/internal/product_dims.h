// The size of Paddle's matrix product, for the op and for its gradient.
#pragma once

#include "ir/dialects/onnx/infer_util.h"
#include "ir/dialects/pd/math.h"

namespace weft::ir::pd {

// The product of operands 0 and 1; fails where they do not fit.
bool ProductDims(InferContext& c, const MatMul::Attrs<Plain>& attrs, Dims* dims);

}  // namespace weft::ir::pd

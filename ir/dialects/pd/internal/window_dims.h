// Sizes of Paddle's convolutions and pools, for the ops and for their gradients.
#pragma once

#include "ir/dialects/pd/nn.h"
#include "ir/infer.h"

namespace weft::ir::pd {

// The result of the convolution of operand 0 with operand 1; fails where the op is wrong.
bool ConvDims(InferContext& c, const Conv2d::Attrs<Plain>& attrs, Shape* dims);
// The result of pooling operand 0.
bool PoolDims(InferContext& c, const Pool2d::Attrs<Plain>& attrs, Value kernel_size, Shape* dims);

}  // namespace weft::ir::pd

// The mask of Attention before opset 24, the inverse of import/attention_mask.h.
#pragma once

#include "tools/onnx/export/lowering.h"

namespace weft::onnx {

// Before opset 24 the mask has as many columns as there are keys. One that has or may have less is padded
// with what leaves keys out. Unsupported for a mask of integers that is shorter.
absl::Status PadAttentionMask(ir::Operation op, int64_t target, const Additions& add,
                              pb::NodeProto* node);

}  // namespace weft::onnx

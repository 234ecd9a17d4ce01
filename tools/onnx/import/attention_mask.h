// The mask of Attention before opset 24.
#pragma once

#include "tools/onnx/import/draft.h"

namespace weft::onnx {

// Opset 23 broadcasts the mask to the keys; from opset 24 on one that is shorter leaves out the rest.
// A mask whose last dimension is or may be 1 is expanded to the keys, unless it has as many for sure.
absl::Status BroadcastAttentionMask(ir::Builder& builder, NodeDraft* node);

}  // namespace weft::onnx

// Raising nodes of opsets 1 to 6, in which operands were not broadcast as numpy does, to opset 7.
#pragma once

#include "tools/onnx/import/draft.h"

namespace weft::onnx {

// For the default domain only. The node keeps its version: adapters.h goes on from there.
absl::Status RaiseToOpset7(ir::Builder& builder, NodeDraft* node);

}  // namespace weft::onnx

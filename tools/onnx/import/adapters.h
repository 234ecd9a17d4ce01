// Raising nodes of older opsets to the semantics of opset 27, before anything else looks at them.
//
// adapters.cc has one table: op_type, the first opset that does not need the change, a function.
// What newer opsets only extended (more element types, optional inputs, attributes whose default is
// the old behaviour) needs no row.
#pragma once

#include <cstdint>

#include "ir/base/status.h"
#include "ir/builder.h"
#include "tools/onnx/import/draft.h"

namespace weft::onnx {

inline constexpr int64_t kOldestOpset = 1;
inline constexpr int64_t kNewestIrVersion = 13;  // of ONNX itself, that is published

// For the default domain only. Unsupported when kOpset cannot say what the node means.
absl::Status RaiseToNewest(ir::Builder& builder, NodeDraft* node);

// Writes a window's implied settings out where the shapes tell them: kernel_shape, strides,
// dilations, and pads instead of auto_pad. Anything odd is left for inference to refuse.
void NormalizeWindow(ir::Builder& builder, NodeDraft* node);

}  // namespace weft::onnx

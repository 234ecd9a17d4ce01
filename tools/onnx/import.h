// Reading ONNX models.
//
//   ir::IrContext context;
//   WEFT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Program> program,
//                         ImportOnnx(context, "model.onnx"));
//
// The main graph becomes the module's body: graph inputs are block arguments, initializers and
// Constant nodes are builtin.constant, outputs are builtin.return. Value names are kept, node names
// are locations. An input that also has an initializer may be left out (ir/analysis/default_inputs.h); it is
// that constant before IR version 4, when all initializers were listed so, and when
// fold_default_inputs asks for it. Nodes that are in no order are sorted. Nodes of opsets 1 to 26
// are raised to opset 27, whose semantics the onnx dialect has. An operator that no dialect defines
// becomes an opaque op named "domain.OpType" (onnx.OpType for ai.onnx) with all its attributes; the
// graphs of any op become regions. Functions that ExportOnnx wrote are read back as the fused ops
// they spell; all other functions are inlined.
//
// Large weights are not copied: constants point into a map of the file, at whatever address, which the
// context keeps (the file must not be truncated or changed in place while the context lives). Module
// attributes onnx.* hold what the model says about itself.
//
// Errors: InvalidArgument when the file is no valid model or exceeds a limit (see limits.h);
// Unimplemented when it is valid but needs what we do not have. One line, naming the node.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/onnx/limits.h"

namespace weft::onnx {

struct ImportOptions {
  ImportLimits limits;
  bool fold_default_inputs = false;
};

// Loads the onnx and fused dialects into the context.
absl::StatusOr<std::unique_ptr<ir::Program>> ImportOnnx(ir::IrContext& context,
                                                        const std::string& path,
                                                        const ImportOptions& options = {});
// From memory, which may go away afterwards: weights are copied, external data is refused.
absl::StatusOr<std::unique_ptr<ir::Program>> ImportOnnxBytes(ir::IrContext& context,
                                                             std::span<const std::byte> bytes,
                                                             const ImportOptions& options = {});

}  // namespace weft::onnx

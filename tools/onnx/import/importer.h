// ModelProto -> Program. The message comes from a skeleton (see wire.h): lengths, nesting and the
// number of parts are already bounded.
#pragma once

#include <memory>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/onnx/import.h"
#include "tools/onnx/proto/proto.h"
#include "tools/onnx/proto/proto_tensor.h"

namespace weft::onnx {

absl::StatusOr<std::unique_ptr<ir::Program>> ImportModel(ir::IrContext* context,
                                                         const pb::ModelProto& model,
                                                         TensorReader& tensors,
                                                         const ImportOptions& options);

}  // namespace weft::onnx

// Single tensors in files: ONNX's TensorProto (.pb, as its test data has them) and NumPy's .npy.
//
//   WEFT_ASSIGN_OR_RETURN(ir::Attribute x, ReadTensorFile(context, "input_0.pb"));
//   WEFT_RETURN_IF_ERROR(WriteTensorFile("output_0.pb", x, "y"));
//
// Both are untrusted: sizes are checked before memory is taken.
#pragma once

#include <string>
#include <string_view>

#include "ir/base/status.h"
#include "ir/context.h"
#include "tools/onnx/limits.h"

namespace weft::onnx {

// A dense attribute. Files ending in .npy are NumPy's, all others TensorProto. Unimplemented for
// big-endian or column-major arrays, and for tensors with external data or in segments.
absl::StatusOr<ir::Attribute> ReadTensorFile(ir::IrContext& context, const std::string& path,
                                             const ImportLimits& limits = {});

// Writes a TensorProto to a new file and renames it to `path`.
absl::Status WriteTensorFile(const std::string& path, ir::Attribute dense, std::string_view name);

}  // namespace weft::onnx

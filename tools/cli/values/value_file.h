// Values at run time, from files and to files (tools/onnx/tensor_file.h).
#pragma once

#include <string>
#include <string_view>

#include "ir/base/status.h"
#include "ir/context.h"
#include "kernels/runtime_value.h"

namespace weft::tools {

// `type` says whether the file holds a tensor, a sequence or an optional.
absl::StatusOr<kernels::RuntimeValue> ReadValue(ir::IrContext& context, const std::string& path,
                                                ir::Type type);
absl::Status WriteValue(ir::IrContext& context, const std::string& path,
                        const kernels::RuntimeValue& value, ir::Type type, std::string_view name);

}  // namespace weft::tools

// Loading and saving models, ONNX or text by the suffix of the file.
#pragma once

#include <memory>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::tools {

// All dialects are loaded into the context. The program has been verified.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path);

struct SaveOptions {
  bool full_weights = false;      // text: weights in the text, and in no side file
  bool inline_functions = false;  // ONNX: expand fused ops
};
// Replaces the file in one step. Text keeps long weights in PATH.weights, from where it is read
// again.
absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options);

}  // namespace weft::tools

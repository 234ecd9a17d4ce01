// Loading and saving models, ONNX or text by the suffix of the file.
#pragma once

#include <memory>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct LoadOptions {
  bool fold_default_inputs = false;  // inputs that may be left out become constants
  bool allow_hard_links = false;     // ONNX: external data in files that have other names too
  std::string program = {};          // that warns on stderr; empty: nobody does
};
// --fold-default-inputs, --allow-hard-links.
void AddLoadFlags(CLI::App& app, LoadOptions* options);

// All dialects are loaded into the context. The program has been verified.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path,
                                                       const LoadOptions& options = {});

struct SaveOptions {
  bool full_weights = false;      // text: weights in the text, and in no side file
  bool inline_functions = false;  // ONNX: expand fused ops
  int64_t target_opset = 0;       // ONNX: 0 for onnx::TargetOpset()
};
// Replaces the file in one step. Text keeps long weights in PATH.weights, from where it is read
// again.
absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options);

}  // namespace weft::tools

// Loading and saving models, ONNX or text by the suffix of the file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/onnx/export.h"
#include "weft/model_options.h"

namespace weft {

// All dialects are loaded into the context. The program has been verified.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path,
                                                       const LoadOptions& options = {});
// ONNX that is already in memory, which may go away afterwards.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelBytes(ir::IrContext& context,
                                                            std::span<const std::byte> bytes,
                                                            const LoadOptions& options = {});
// Weft's text; side files are refused.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelText(ir::IrContext& context,
                                                           std::string_view text,
                                                           const LoadOptions& options = {});

onnx::ExportOptions ExportOptionsOf(const SaveOptions& options);

// Replaces the file in one step. Text keeps long weights in PATH.weights, from where it is read
// again.
absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options);

}  // namespace weft

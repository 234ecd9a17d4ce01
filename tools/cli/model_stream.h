// Models through pipes: `-` for stdin and stdout, and --format, which says what is in them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/cli_fwd.h"
#include "weft/base/files.h"
#include "weft/model_options.h"

namespace weft::tools {

inline constexpr const char* kStream = "-";

// --format, on the line of the option added before it.
void AddFormatFlag(CLI::App& app, std::string* format);
// "onnx" or "ir"; none for "".
absl::StatusOr<std::optional<ModelFormat>> ParseFormat(const std::string& format);

// That `path` is a name of a model, or "-" with a format.
absl::Status CheckModelName(const std::string& path, const std::string& format);

// LoadModel, or what stdin holds to its end.
absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelOrStream(ir::IrContext& context,
                                                               const std::string& path,
                                                               const std::string& format,
                                                               const LoadOptions& options);

// The whole model, weights in it. What stdout refuses is for the end of the program to see.
absl::Status WriteModelToStdout(ir::Program& program, ModelFormat format,
                                const SaveOptions& options);

}  // namespace weft::tools

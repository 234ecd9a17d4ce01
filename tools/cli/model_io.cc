#include "tools/cli/model_io.h"

#include <filesystem>

#include "ir/analysis/verifier.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/pd.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/text/weights.h"
#include "tools/cli/files.h"
#include "tools/cli/program_main.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"

namespace weft::tools {
namespace {

absl::Status SaveText(ir::Program& program, const std::string& path, const SaveOptions& options) {
  ir::PrintOptions print;
  print.locations = true;
  print.full_weights = options.full_weights;
  if (!options.full_weights)
    print.weights_file = std::filesystem::path(path).filename().string() + ".weights";
  return ReplaceFile(path, [&](const std::string& temporary) {
    WEFT_RETURN_IF_ERROR(WriteText(temporary, ir::PrintProgram(program, print)));
    return options.full_weights ? absl::OkStatus()
                                : ir::WriteWeights(program, path + ".weights", print);
  });
}

// The message names the file.
absl::Status NameFile(const absl::Status& status, const std::string& path) {
  if (ir::Message(status).find(path) != std::string_view::npos) return status;
  return ir::Annotate(status, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadPdDialect(context);
  // What the verifier would refuse a type for is refused where the text has a line for it.
  auto program = format == ModelFormat::kOnnx
                     ? onnx::ImportOnnx(context, path)
                     : ir::ParseProgramFile(context, path, {.check_types = true});
  if (!program.ok()) return NameFile(program.status(), path);
  WEFT_RETURN_IF_ERROR(ir::Annotate(ir::Verify(**program), path));
  return program;
}

absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  if (format == ModelFormat::kIr) return SaveText(program, path, options);
  return NameFile(onnx::ExportOnnx(program, path, {.inline_functions = options.inline_functions}),
                  path);
}

}  // namespace weft::tools

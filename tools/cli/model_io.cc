#include "tools/cli/model_io.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
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
  ir::OutputFile text, weights;
  WEFT_RETURN_IF_ERROR(text.Open(path));
  WEFT_RETURN_IF_ERROR(text.Append(ir::PrintProgram(program, print)));
  if (!options.full_weights)
    WEFT_RETURN_IF_ERROR(ir::AppendWeights(program, path + ".weights", print, &weights));
  ir::OutputFile* const both[] = {&weights, &text};
  return ir::CommitTogether(both);
}

void WarnOfDefaults(ir::Program& program, const std::string& warnings_to) {
  const auto names = program.module().attrs_of<ir::ModuleOp>().default_inputs;
  if (warnings_to.empty() || !names || names->empty()) return;
  const bool one = names->size() == 1;
  PrintWarning(warnings_to,
               fmt::format("{} input{} may be overridden and {} not folded, {} first; "
                           "--fold-default-inputs makes constants of such inputs",
                           names->size(), one ? "" : "s", one ? "is" : "are", names->front()));
}

// The message names the file.
absl::Status NameFile(const absl::Status& status, const std::string& path) {
  if (ir::Message(status).find(path) != std::string_view::npos) return status;
  return ir::Annotate(status, path);
}

}  // namespace

void AddLoadFlags(CLI::App& app, LoadOptions* options) {
  options->program = app.get_name();
  app.add_flag("--fold-default-inputs", options->fold_default_inputs,
               "make defaults of inputs constants; read hard links");
  app.add_flag("--allow-hard-links", options->allow_hard_links)->group(kSameLine);
}

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path,
                                                       const LoadOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadMicrosoftDialect(context);
  ir::LoadPdDialect(context);
  const onnx::ImportOptions import = {.limits = {.allow_hard_links = options.allow_hard_links},
                                      .fold_default_inputs = options.fold_default_inputs};
  // What the verifier would refuse a type for is refused where the text has a line for it.
  auto program = format == ModelFormat::kOnnx
                     ? onnx::ImportOnnx(context, path, import)
                     : ir::ParseProgramFile(context, path, {.check_types = true});
  if (!program.ok()) return NameFile(program.status(), path);
  WEFT_RETURN_IF_ERROR(ir::Annotate(ir::Verify(**program), path));
  if (!options.fold_default_inputs) {
    WarnOfDefaults(**program, options.program);
  } else if (ir::FoldDefaultInputs(**program) > 0) {
    WEFT_RETURN_IF_ERROR(ir::Annotate(ir::PropagateTypes(**program), path));
  }
  return program;
}

absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  if (format == ModelFormat::kIr) return SaveText(program, path, options);
  return NameFile(onnx::ExportOnnx(program, path,
                                   {.target_opset = options.target_opset,
                                    .inline_functions = options.inline_functions}),
                  path);
}

}  // namespace weft::tools

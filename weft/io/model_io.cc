#include "weft/io/model_io.h"

#include <fmt/format.h>

#include <filesystem>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/text/weights.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"
#include "weft/base/files.h"
#include "weft/io/dialects.h"

namespace weft {
namespace {

absl::Status SaveText(ir::Program& program, const std::string& path, const SaveOptions& options) {
  WEFT_RETURN_IF_ERROR(ir::Verify(program));  // what is no program would not be read again
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

void WarnOfDefaults(ir::Program& program, const Notices& notices) {
  const auto names = program.module().attrs_of<ir::ModuleOp>().default_inputs;
  if (!names || names->empty()) return;
  const bool one = names->size() == 1;
  notices.Warn(
      fmt::format("{} input{} may be overridden and {} not folded, {} first; "
                  "--fold-default-inputs makes constants of such inputs",
                  names->size(), one ? "" : "s", one ? "is" : "are", names->front()));
}

// The message names the file.
absl::Status NameFile(const absl::Status& status, const std::string& path) {
  if (ir::Message(status).find(path) != std::string_view::npos) return status;
  return ir::Annotate(status, path);
}

onnx::ImportOptions ImportOptionsOf(const LoadOptions& options) {
  return {.limits = {.allow_hard_links = options.allow_hard_links},
          .fold_default_inputs = options.fold_default_inputs};
}

void LoadDialects(ir::IrContext& context, const LoadOptions& options) {
  LoadAllDialects(context);
  if (options.add_dialects) options.add_dialects(context);
}

// What is done with every program that was read.
absl::Status Finish(ir::Program& program, const LoadOptions& options) {
  WEFT_RETURN_IF_ERROR(ir::Verify(program));
  if (!options.fold_default_inputs) {
    WarnOfDefaults(program, options.notices);
    return absl::OkStatus();
  }
  return ir::FoldDefaultInputs(program) > 0 ? ir::PropagateTypes(program) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModel(ir::IrContext& context,
                                                       const std::string& path,
                                                       const LoadOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  LoadDialects(context, options);
  // What the verifier would refuse a type for is refused where the text has a line for it.
  auto program = format == ModelFormat::kOnnx
                     ? onnx::ImportOnnx(context, path, ImportOptionsOf(options))
                     : ir::ParseProgramFile(context, path, {.check_types = true});
  if (!program.ok()) return NameFile(program.status(), path);
  WEFT_RETURN_IF_ERROR(ir::Annotate(Finish(**program, options), path));
  return program;
}

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelBytes(ir::IrContext& context,
                                                            std::span<const std::byte> bytes,
                                                            const LoadOptions& options) {
  LoadDialects(context, options);
  WEFT_ASSIGN_OR_RETURN(auto program,
                        onnx::ImportOnnxBytes(context, bytes, ImportOptionsOf(options)));
  WEFT_RETURN_IF_ERROR(Finish(*program, options));
  return program;
}

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelText(ir::IrContext& context,
                                                           std::string_view text,
                                                           const LoadOptions& options) {
  LoadDialects(context, options);
  WEFT_ASSIGN_OR_RETURN(auto program, ir::ParseProgram(context, text, {.check_types = true}));
  WEFT_RETURN_IF_ERROR(Finish(*program, options));
  return program;
}

onnx::ExportOptions ExportOptionsOf(const SaveOptions& options) {
  return {.target_opset = options.target_opset, .inline_functions = options.inline_functions};
}

absl::Status SaveModel(ir::Program& program, const std::string& path, const SaveOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const ModelFormat format, ModelFormatOf(path));
  if (format == ModelFormat::kIr) return SaveText(program, path, options);
  return NameFile(onnx::ExportOnnx(program, path, ExportOptionsOf(options)), path);
}

}  // namespace weft

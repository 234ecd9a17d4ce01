#include "tools/cli/model_stream.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ir/base/suggest.h"
#include "ir/text/printer.h"
#include "tools/cli/program_main.h"
#include "tools/cli/reproducer.h"
#include "weft/io/model_io.h"

namespace weft::tools {
namespace {

absl::StatusOr<std::string> ReadStdin() {
  std::string text;
  char buffer[1 << 16];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0) text.append(buffer, n);
  if (std::ferror(stdin)) return ir::InvalidArgument("stdin: reading failed");
  if (text.empty()) return ir::InvalidArgument("stdin: expected a model, but it is empty");
  return text;
}

}  // namespace

void AddFormatFlag(CLI::App& app, std::string* format) {
  app.add_option("--format", *format)->type_name("F")->group(kSameLine);
}

absl::StatusOr<std::optional<ModelFormat>> ParseFormat(const std::string& format) {
  if (format.empty()) return std::optional<ModelFormat>();
  const std::string formats[] = {"onnx", "ir"};
  WEFT_RETURN_IF_ERROR(ir::CheckName("format", format, formats));
  return std::optional(format == "onnx" ? ModelFormat::kOnnx : ModelFormat::kIr);
}

absl::Status CheckModelName(const std::string& path, const std::string& format) {
  WEFT_RETURN_IF_ERROR(ParseFormat(format).status());
  if (path != kStream) return ModelFormatOf(path).status();
  if (!format.empty()) return absl::OkStatus();
  return ir::InvalidArgument("stdin needs --format onnx or --format ir");
}

absl::StatusOr<std::unique_ptr<ir::Program>> LoadModelOrStream(ir::IrContext& context,
                                                               const std::string& path,
                                                               const std::string& format,
                                                               const LoadOptions& options) {
  if (path != kStream) return LoadModel(context, path, options);
  WEFT_ASSIGN_OR_RETURN(std::string read, ReadStdin());
  const auto text = std::make_shared<const std::string>(std::move(read));
  KeepStdin(text);
  auto program = format == "onnx"
                     ? LoadModelBytes(context, std::as_bytes(std::span(*text)), options)
                     : LoadModelText(context, *text, options);
  if (!program.ok()) return ir::Annotate(program.status(), "stdin");
  return program;
}

absl::Status WriteModelToStdout(ir::Program& program, ModelFormat format,
                                const SaveOptions& options) {
  std::string text;
  if (format == ModelFormat::kOnnx) {
    WEFT_ASSIGN_OR_RETURN(text, onnx::ExportOnnxBytes(program, ExportOptionsOf(options)));
  } else {
    text = ir::PrintProgram(program, {.full_weights = true, .locations = true});
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

}  // namespace weft::tools

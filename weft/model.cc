#include <utility>

#include "ir/dialects/builtin.h"
#include "ir/text/printer.h"
#include "tools/onnx/export.h"
#include "tools/onnx/origins.h"
#include "weft/context.h"
#include "weft/io/model_io.h"
#include "weft/optimize/count_operators.h"

namespace weft {

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

absl::StatusOr<Model> Model::Load(const std::string& path, const LoadOptions& options) {
  auto context = std::make_shared<Context>();
  WEFT_ASSIGN_OR_RETURN(auto program, LoadModel(context->ir, path, options));
  onnx::RecordNodeOrigins(*program);
  return Model(std::make_unique<State>(std::move(context), std::move(program)));
}

absl::StatusOr<Model> Model::FromBytes(std::span<const std::byte> bytes,
                                       const LoadOptions& options) {
  auto context = std::make_shared<Context>();
  WEFT_ASSIGN_OR_RETURN(auto program, LoadModelBytes(context->ir, bytes, options));
  onnx::RecordNodeOrigins(*program);
  return Model(std::make_unique<State>(std::move(context), std::move(program)));
}

absl::StatusOr<Model> Model::FromText(std::string_view text, const LoadOptions& options) {
  auto context = std::make_shared<Context>();
  WEFT_ASSIGN_OR_RETURN(auto program, LoadModelText(context->ir, text, options));
  return Model(std::make_unique<State>(std::move(context), std::move(program)));
}

Model Model::Clone() const {
  const std::lock_guard lock(state_->context->mutex);
  return Model(std::make_unique<State>(*state_));
}

absl::Status Model::Save(const std::string& path, const SaveOptions& options) const {
  const std::lock_guard lock(state_->context->mutex);
  return SaveModel(*state_->program, path, options);
}

absl::StatusOr<std::string> Model::ToBytes(const SaveOptions& options) const {
  const std::lock_guard lock(state_->context->mutex);
  return onnx::ExportOnnxBytes(*state_->program, ExportOptionsOf(options));
}

std::string Model::ToText() const {
  const std::lock_guard lock(state_->context->mutex);
  return ir::PrintProgram(*state_->program);
}

size_t Model::num_operations() const {
  const std::lock_guard lock(state_->context->mutex);
  return state_->program->num_operations() - 1;  // but the module
}

ModelSummary Model::Summary() const {
  const std::lock_guard lock(state_->context->mutex);
  ir::Program& program = *state_->program;
  ModelSummary summary;
  summary.operators = CountOperators(program);
  const auto names = program.module().attrs_of<ir::ModuleOp>();
  const auto add = [](const std::optional<ir::Strings>& of, ir::Value value, auto* list) {
    const size_t i = list->size();
    list->emplace_back(of && i < of->size() ? (*of)[i] : std::string(value.name()),
                       value.type().ToString());
  };
  for (const ir::Value input : program.body().arguments())
    add(names.input_names, input, &summary.inputs);
  if (const ir::Operation end = program.body().Terminator())
    for (const ir::Value output : end.operands()) add(names.output_names, output, &summary.outputs);
  return summary;
}

ir::Program& Model::program() const { return *state_->program; }

}  // namespace weft

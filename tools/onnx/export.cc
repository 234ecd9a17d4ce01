#include "tools/onnx/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/inplace.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/walk.h"
#include "tools/onnx/export/fused_functions.h"
#include "tools/onnx/export/graph_writer.h"
#include "tools/onnx/export/lowering.h"
#include "tools/onnx/import/adapters.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"
#include "tools/onnx/wire/model_layout.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {

static_assert(kNewestTargetOpset == kOpset);

namespace {

using ir::Attribute;
using ir::AttrKind;

constexpr int64_t kDefaultOpset = 17;

std::string TextOf(ir::Operation module, const char* name) {
  const Attribute value = module.attr(name);
  return value.Is(AttrKind::kString) ? value.AsString() : std::string();
}

ir::Strings TextsOf(ir::Operation module, const char* name) {
  const Attribute value = module.attr(name);
  return value.Is(AttrKind::kStrings) ? value.AsStrings() : ir::Strings();
}

// What the model that the program was read from imports.
std::map<std::string, int64_t> StoredOpsets(ir::Operation module) {
  std::map<std::string, int64_t> versions;
  const Attribute stored = module.attr(onnx::kOpsetImports);
  if (!stored.Is(AttrKind::kStrings)) return versions;
  for (const std::string& entry : stored.AsStrings()) {
    const size_t colon = entry.rfind(':');
    size_t version = 0;
    if (colon != std::string::npos && onnx::ParseSize(entry.substr(colon + 1), &version))
      versions[entry.substr(0, colon)] = std::max<int64_t>(1, static_cast<int64_t>(version));
  }
  return versions;
}

void WriteOpsets(ir::Operation module, const std::set<std::string>& used, int64_t target,
                 pb::ModelProto* model) {
  std::map<std::string, int64_t> versions = StoredOpsets(module);
  for (const std::string& domain : used) versions.try_emplace(domain, 1);
  versions[""] = target;
  for (const auto& [domain, version] : versions) {
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
}

void WriteHeader(ir::Operation module, int64_t target, pb::ModelProto* model,
                 pb::GraphProto* graph) {
  const Attribute stored = module.attr(onnx::kIrVersion);
  const int64_t ir_version = onnx::IrVersionOf(target);
  model->set_ir_version(stored.Is(AttrKind::kInt) ? std::max(ir_version, stored.AsInt())
                                                  : ir_version);
  const std::string producer = TextOf(module, onnx::kProducerName);
  model->set_producer_name(producer.empty() ? "weft" : producer);
  if (const std::string version = TextOf(module, onnx::kProducerVersion); !version.empty())
    model->set_producer_version(version);
  if (const std::string domain = TextOf(module, onnx::kModelDomain); !domain.empty())
    model->set_domain(domain);
  if (const std::string doc = TextOf(module, onnx::kModelDoc); !doc.empty())
    model->set_doc_string(doc);
  if (const Attribute value = module.attr(onnx::kModelVersion); value.Is(AttrKind::kInt))
    model->set_model_version(value.AsInt());
  onnx::AddMetadata(TextsOf(module, onnx::kMetadata), model->mutable_metadata_props());
  onnx::AddMetadata(TextsOf(module, onnx::kGraphMetadata), graph->mutable_metadata_props());
  const std::string name = TextOf(module, onnx::kGraphName);
  graph->set_name(name.empty() ? "main" : name);  // ONNX wants one
  if (const std::string doc = TextOf(module, onnx::kGraphDoc); !doc.empty())
    graph->set_doc_string(doc);
}

// Where a model goes: one of the two is null.
struct Destination {
  const std::string* path = nullptr;
  std::string* bytes = nullptr;
};

// options.target_opset is set.
absl::Status Export(ir::Program& program, Destination to, const ExportOptions& options) {
  WEFT_RETURN_IF_ERROR(ir::Verify(program));
  const ir::Operation end = program.body().Terminator();
  if (end && end.num_operands() == 0 && program.body().front() == end)
    return ir::InvalidArgument("neither nodes nor outputs are there to be written");
  const ir::Operation module = program.module();
  const auto attrs = module.attrs_of<ir::ModuleOp>();
  pb::ModelProto model;
  pb::GraphProto graph;
  WriteHeader(module, options.target_opset, &model, &graph);
  onnx::FusedFunctionTable functions(program, options.target_opset);
  onnx::GraphWriter writer(onnx::GraphWriter::Constants::kInitializers, options.target_opset,
                           &functions);
  for (const auto& [name, dense] : ir::DefaultsOfInputs(program)) {
    if (dense.IsElided())
      return ir::InvalidArgument(
          fmt::format("the default of input {} was left out of the text", name));
    writer.AddDefault(name, dense);
  }
  const onnx::Notes node_notes(TextsOf(module, onnx::kNodeNotes));
  const onnx::Notes value_notes(TextsOf(module, onnx::kValueNotes));
  writer.set_notes(&node_notes, &value_notes);
  WEFT_RETURN_IF_ERROR(writer.Write(program.body(), attrs.input_names.value_or(ir::Strings()),
                                    attrs.output_names.value_or(ir::Strings()), &graph));
  value_notes.AddToValues(&graph);
  WriteOpsets(module, writer.domains(), options.target_opset, &model);
  for (const pb::FunctionProto& function : functions.functions()) *model.add_functions() = function;
  if (to.path != nullptr)
    return onnx::WriteModel(model, graph, writer.tensors(), *to.path, options.max_model_bytes);
  return onnx::WriteModelBytes(model, graph, writer.tensors(), options.max_model_bytes, to.bytes);
}

absl::Status ExportTo(ir::Program& program, Destination to, const ExportOptions& given) {
  ExportOptions options = given;
  if (options.target_opset == 0) options.target_opset = TargetOpset(program);
  const int64_t target = options.target_opset;
  if (target < kOldestTargetOpset || target > kNewestTargetOpset)
    return ir::InvalidArgument(fmt::format("the target opset is {}; supported are {} to {}", target,
                                           kOldestTargetOpset, kNewestTargetOpset));
  bool has_new = false;
  ir::Walk(program, [&](ir::Operation op) { has_new |= onnx::IsExpandedFor(op, target); });
  if (!options.inline_functions && !has_new && !onnx::HasBodyInRegion(program) &&
      !ir::HasInplaceMarks(program))
    return Export(program, to, options);
  WEFT_RETURN_IF_ERROR(ir::Verify(program));
  const std::unique_ptr<ir::Program> copy = program.Clone();  // shares the weights
  ir::DropInplaceMarks(*copy);                                // ONNX has no such attribute
  WEFT_RETURN_IF_ERROR(options.inline_functions ? onnx::ExpandFusedOps(copy.get())
                                                : onnx::ExpandBodiesInRegions(copy.get()));
  WEFT_RETURN_IF_ERROR(onnx::ExpandNewOperators(copy.get(), target));
  return Export(*copy, to, options);
}

}  // namespace

int64_t SourceOpset(ir::Program& program) {
  const auto stored = StoredOpsets(program.module());
  const auto own = stored.find("");
  return own == stored.end() ? 0 : own->second;
}

int64_t TargetOpset(ir::Program& program) {
  const int64_t source = SourceOpset(program);
  int64_t target =
      source == 0 ? kDefaultOpset : std::clamp(source, kOldestTargetOpset, kNewestTargetOpset);
  ir::Walk(program, [&](ir::Operation op) {
    if (source == 0 && op.def()) target = std::max(target, IntroducedIn(*op.def()));
    // What an old operator meant may need a newer attribute.
    target = std::max(target, onnx::OldestOpsetOf(op));
  });
  return target;
}

absl::Status ExportOnnx(ir::Program& program, const std::string& path,
                        const ExportOptions& options) {
  return onnx::OneLine(ExportTo(program, {.path = &path}, options));
}

absl::StatusOr<std::string> ExportOnnxBytes(ir::Program& program, const ExportOptions& options) {
  std::string bytes;
  WEFT_RETURN_IF_ERROR(onnx::OneLine(ExportTo(program, {.bytes = &bytes}, options)));
  return bytes;
}

}  // namespace weft::onnx

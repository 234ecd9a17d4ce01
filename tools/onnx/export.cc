#include "tools/onnx/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/inplace.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "tools/onnx/export/fused_functions.h"
#include "tools/onnx/export/graph_writer.h"
#include "tools/onnx/import/adapters.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/wire/model_layout.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::AttrKind;

constexpr int64_t kIrVersion = 8;  // of opset 17; has local functions

std::string TextOf(ir::Operation module, const char* name) {
  const Attribute value = module.attr(name);
  return value.Is(AttrKind::kString) ? value.AsString() : std::string();
}

void WriteOpsets(ir::Operation module, const std::set<std::string>& used, pb::ModelProto* model) {
  std::map<std::string, int64_t> versions;
  for (const std::string& domain : used) versions[domain] = 1;
  if (const Attribute stored = module.attr(onnx::kOpsetImports); stored.Is(AttrKind::kStrings)) {
    for (const std::string& entry : stored.AsStrings()) {
      const size_t colon = entry.rfind(':');
      size_t version = 0;
      if (colon != std::string::npos && onnx::ParseSize(entry.substr(colon + 1), &version))
        versions[entry.substr(0, colon)] = std::max<int64_t>(1, static_cast<int64_t>(version));
    }
  }
  versions[""] = onnx::kOpset;
  for (const auto& [domain, version] : versions) {
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
}

void WriteHeader(ir::Operation module, pb::ModelProto* model, pb::GraphProto* graph) {
  const Attribute ir_version = module.attr(onnx::kIrVersion);
  model->set_ir_version(ir_version.Is(AttrKind::kInt) ? std::max(kIrVersion, ir_version.AsInt())
                                                      : kIrVersion);
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
  if (const Attribute value = module.attr(onnx::kMetadata); value.Is(AttrKind::kStrings)) {
    const ir::Strings& list = value.AsStrings();
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      auto* entry = model->add_metadata_props();
      entry->set_key(list[i]);
      entry->set_value(list[i + 1]);
    }
  }
  const std::string name = TextOf(module, onnx::kGraphName);
  graph->set_name(name.empty() ? "main" : name);  // ONNX wants one
  if (const std::string doc = TextOf(module, onnx::kGraphDoc); !doc.empty())
    graph->set_doc_string(doc);
}

absl::Status Export(ir::Program& program, const std::string& path, const ExportOptions& options) {
  WEFT_RETURN_IF_ERROR(ir::Verify(program));
  const ir::Operation module = program.module();
  const auto attrs = module.attrs_of<ir::ModuleOp>();
  pb::ModelProto model;
  pb::GraphProto graph;
  WriteHeader(module, &model, &graph);
  onnx::FusedFunctionTable functions;
  onnx::GraphWriter writer(onnx::GraphWriter::Constants::kInitializers, &functions);
  for (const std::string& name : attrs.default_inputs.value_or(ir::Strings())) {
    const Attribute dense = ir::DefaultOfInput(program, name);
    if (dense.IsElided())
      return ir::InvalidArgument(
          fmt::format("the default of input {} was left out of the text", name));
    writer.AddDefault(name, dense);
  }
  WEFT_RETURN_IF_ERROR(writer.Write(program.body(), attrs.input_names.value_or(ir::Strings()),
                                    attrs.output_names.value_or(ir::Strings()), &graph));
  WriteOpsets(module, writer.domains(), &model);
  for (const pb::FunctionProto& function : functions.functions()) *model.add_functions() = function;
  return onnx::WriteModel(model, graph, writer.tensors(), path, options.max_model_bytes);
}

}  // namespace

absl::Status ExportOnnx(ir::Program& program, const std::string& path,
                        const ExportOptions& options) {
  if (!options.inline_functions && !onnx::HasBodyInRegion(program) && !ir::HasInplaceMarks(program))
    return onnx::OneLine(Export(program, path, options));
  WEFT_RETURN_IF_ERROR(onnx::OneLine(ir::Verify(program)));
  const std::unique_ptr<ir::Program> copy = program.Clone();  // shares the weights
  ir::DropInplaceMarks(*copy);                                // ONNX has no such attribute
  WEFT_RETURN_IF_ERROR(onnx::OneLine(options.inline_functions
                                         ? onnx::ExpandFusedOps(copy.get())
                                         : onnx::ExpandBodiesInRegions(copy.get())));
  return onnx::OneLine(Export(*copy, path, options));
}

}  // namespace weft::onnx

#include "tools/onnx/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/dialects/builtin.h"
#include "ir/inplace.h"
#include "ir/verifier.h"
#include "tools/onnx/internal/adapters.h"
#include "tools/onnx/internal/fused_functions.h"
#include "tools/onnx/internal/graph_writer.h"
#include "tools/onnx/internal/model_layout.h"
#include "tools/onnx/internal/names.h"
#include "tools/onnx/internal/text.h"

namespace weft::tools {
namespace {

using ir::Attribute;
using ir::AttrKind;
namespace pb = bridge::pb;

constexpr int64_t kIrVersion = 8;  // of opset 17; has local functions

std::string TextOf(ir::Operation module, const char* name) {
  const Attribute value = module.attr(name);
  return value.Is(AttrKind::kString) ? value.AsString() : std::string();
}

void WriteOpsets(ir::Operation module, const std::set<std::string>& used, pb::ModelProto* model) {
  std::map<std::string, int64_t> versions;
  for (const std::string& domain : used) versions[domain] = 1;
  if (const Attribute stored = module.attr(bridge::kOpsetImports); stored.Is(AttrKind::kStrings)) {
    for (const std::string& entry : stored.AsStrings()) {
      const size_t colon = entry.rfind(':');
      size_t version = 0;
      if (colon != std::string::npos && bridge::ParseSize(entry.substr(colon + 1), &version))
        versions[entry.substr(0, colon)] = std::max<int64_t>(1, static_cast<int64_t>(version));
    }
  }
  versions[""] = bridge::kOpset;
  for (const auto& [domain, version] : versions) {
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
}

void WriteHeader(ir::Operation module, pb::ModelProto* model, pb::GraphProto* graph) {
  const Attribute ir_version = module.attr(bridge::kIrVersion);
  model->set_ir_version(ir_version.Is(AttrKind::kInt) ? std::max(kIrVersion, ir_version.AsInt())
                                                      : kIrVersion);
  const std::string producer = TextOf(module, bridge::kProducerName);
  model->set_producer_name(producer.empty() ? "weft" : producer);
  if (const std::string version = TextOf(module, bridge::kProducerVersion); !version.empty())
    model->set_producer_version(version);
  if (const std::string domain = TextOf(module, bridge::kModelDomain); !domain.empty())
    model->set_domain(domain);
  if (const std::string doc = TextOf(module, bridge::kModelDoc); !doc.empty())
    model->set_doc_string(doc);
  if (const Attribute value = module.attr(bridge::kModelVersion); value.Is(AttrKind::kInt))
    model->set_model_version(value.AsInt());
  if (const Attribute value = module.attr(bridge::kMetadata); value.Is(AttrKind::kStrings)) {
    const ir::Strings& list = value.AsStrings();
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      auto* entry = model->add_metadata_props();
      entry->set_key(list[i]);
      entry->set_value(list[i + 1]);
    }
  }
  const std::string name = TextOf(module, bridge::kGraphName);
  graph->set_name(name.empty() ? "main" : name);  // ONNX wants one
  if (const std::string doc = TextOf(module, bridge::kGraphDoc); !doc.empty())
    graph->set_doc_string(doc);
}

absl::Status Export(ir::Program& program, const std::string& path, const ExportOptions& options) {
  WEFT_RETURN_IF_ERROR(ir::Verify(program));
  const ir::Operation module = program.module();
  const auto attrs = module.attrs_of<ir::ModuleOp>();
  pb::ModelProto model;
  pb::GraphProto graph;
  WriteHeader(module, &model, &graph);
  bridge::FusedFunctionTable functions;
  bridge::GraphWriter writer(bridge::GraphWriter::Constants::kInitializers, &functions);
  WEFT_RETURN_IF_ERROR(writer.Write(program.body(), attrs.input_names.value_or(ir::Strings()),
                                    attrs.output_names.value_or(ir::Strings()), &graph));
  WriteOpsets(module, writer.domains(), &model);
  for (const pb::FunctionProto& function : functions.functions()) *model.add_functions() = function;
  return bridge::WriteModel(model, graph, writer.tensors(), path, options.max_model_bytes);
}

}  // namespace

absl::Status ExportOnnx(ir::Program& program, const std::string& path,
                        const ExportOptions& options) {
  if (!options.inline_functions && !bridge::HasBodyInRegion(program) &&
      !ir::HasInplaceMarks(program))
    return bridge::OneLine(Export(program, path, options));
  WEFT_RETURN_IF_ERROR(bridge::OneLine(ir::Verify(program)));
  const std::unique_ptr<ir::Program> copy = program.Clone();  // shares the weights
  ir::DropInplaceMarks(*copy);                                // ONNX has no such attribute
  WEFT_RETURN_IF_ERROR(bridge::OneLine(options.inline_functions
                                           ? bridge::ExpandFusedOps(copy.get())
                                           : bridge::ExpandBodiesInRegions(copy.get())));
  return bridge::OneLine(Export(*copy, path, options));
}

}  // namespace weft::tools

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/control.h"
#include "ir/dim/dim_expr.h"
#include "tools/onnx/import/importer.h"
#include "tools/onnx/import/importer_impl.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"
#include "tools/onnx/proto/proto_type.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::Block;
using ir::Operation;
using ir::Rewriter;
using ir::Type;
using ir::Value;

absl::Status CheckModel(const pb::ModelProto& model) {
  if (model.ir_version() < 1 || model.ir_version() > kNewestIrVersion)
    return ir::InvalidArgument(
        fmt::format("ir_version is {}, expected 1 to {}", model.ir_version(), kNewestIrVersion));
  if (!model.has_graph()) return ir::InvalidArgument("the model has no graph");
  if (model.graph().node().empty() && model.graph().output().empty())
    return ir::InvalidArgument("the graph has neither nodes nor outputs");
  return absl::OkStatus();
}

// Models of IR versions 1 and 2 name no operator sets, and ONNX's checker takes opset 1.
absl::StatusOr<OpsetImports> ReadOpsets(const pb::ModelProto& model) {
  if (model.ir_version() >= 3 || !model.opset_import().empty())
    return OpsetImports::Read(model.opset_import());
  pb::OperatorSetIdProto first;
  first.set_version(1);
  return OpsetImports::Read(std::span(&first, 1));
}

// The symbols of a dimension: itself, or those of its expression.
std::vector<int64_t> SymbolsIn(int64_t dim) {
  std::vector<int64_t> symbols;
  if (ir::IsSymbolicDim(dim)) ir::DimExpr::OfDim(dim).CollectSymbols(&symbols);
  return symbols;
}

using Dims = absl::flat_hash_set<int64_t>;

// The type with unknown sizes in place of symbols, and expressions of symbols, that are not known.
Type WithSymbols(ir::IrContext& context, Type type, const Dims& known) {
  if (!type) return type;
  if (type.HasElement()) {
    const Type element = WithSymbols(context, type.element(), known);
    return type.IsSequence() ? context.SequenceType(element) : context.OptionalType(element);
  }
  if (!type.HasRank()) return type;
  ir::Shape dims = type.shape();
  const auto is_known = [&known](int64_t symbol) { return known.contains(symbol); };
  for (int64_t& dim : dims)
    if (!is_known(dim) && !std::ranges::all_of(SymbolsIn(dim), is_known)) dim = ir::kUnknownDim;
  return context.TensorType(type.dtype(), dims);
}

bool HoldsSequence(Type type) {
  return type && (type.IsSequence() || (type.HasElement() && HoldsSequence(type.element())));
}

Type TypeOfOperand(Operation op, uint32_t i) {
  return op.HasOperand(i) ? op.operand(i).type() : Type();
}

// What a body takes, as it states that and as the operation hands it over at first, and what it gives for the next
// iteration.
struct Carried {
  Type taken, at_first, given;
};

// Symbols, and expressions as a whole, that mean in a body what they mean outside: sizes of what it carries that are the
// same in every iteration.
Dims DimsThatStay(const std::vector<Carried>& carried) {
  Dims stay, change;
  for (const Carried& c : carried) {
    if (!c.taken || !c.taken.HasRank()) continue;
    for (size_t axis = 0; axis < c.taken.shape().size(); ++axis) {
      const auto dim_of = [&](Type type) {
        const bool fits = type && type.HasRank() && type.shape().size() == c.taken.shape().size();
        return fits ? type.shape()[axis] : ir::kUnknownDim;
      };
      const int64_t dim = c.taken.shape()[axis], next = dim_of(c.given);
      if (dim == next && dim == dim_of(c.at_first)) {
        if (ir::IsSymbolicDim(dim)) stay.insert(dim);
        continue;
      }
      for (const int64_t d : {dim, next})
        for (const int64_t symbol : SymbolsIn(d)) change.insert(symbol);
    }
  }
  absl::erase_if(stay, [&](int64_t dim) {
    return std::ranges::any_of(SymbolsIn(dim), [&](int64_t s) { return change.contains(s); });
  });
  return stay;
}

}  // namespace

Importer::Importer(ir::IrContext* context, TensorReader& tensors, const ImportOptions& options)
    : context_(context),
      tensors_(tensors),
      limits_(options.limits),
      fold_default_inputs_(options.fold_default_inputs),
      program_(std::make_unique<ir::Program>(context)),
      fused_(context, &tensors) {
  for (const ir::OpDef* def : context->Ops())
    if (!def->info->onnx.empty())
      known_.try_emplace(
          std::pair(std::string(def->info->onnx_domain), std::string(def->info->onnx)), def);
}

// --- graphs -----------------------------------------------------------------------

absl::Status Importer::CountNodes(size_t count) {
  num_nodes_ += count;
  return num_nodes_ <= limits_.max_nodes
             ? absl::OkStatus()
             : ir::InvalidArgument(fmt::format("more than {} nodes", limits_.max_nodes));
}

// Those of the model, and of the functions whose nodes are in the program now.
void Importer::SetOpsetImports(const OpsetImports& opsets) {
  std::map<std::string, int64_t, std::less<>> versions = opsets.versions();
  for (const auto& [domain, version] : opaque_opsets_)
    if (!domain.empty()) versions[domain] = version;
  ir::Strings imports;
  for (const auto& [domain, version] : versions) {
    if (domain == kFusedDomain) continue;  // written again when it is needed
    imports.push_back(fmt::format("{}:{}", domain, version));
  }
  Rewriter(program_.get())
      .SetAttr(program_->module(), kOpsetImports, context_->StringsAttr(imports));
}

absl::Status Importer::Header(const pb::ModelProto& model) {
  std::vector<ir::NamedAttribute> attrs;
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) attrs.push_back({ir::Name(name), context_->StringAttr(text)});
  };
  attrs.push_back({ir::Name(kIrVersion), context_->IntAttr(model.ir_version())});
  if (model.has_model_version())
    attrs.push_back({ir::Name(kModelVersion), context_->IntAttr(model.model_version())});
  add_text(kProducerName, model.producer_name());
  add_text(kProducerVersion, model.producer_version());
  add_text(kModelDomain, model.domain());
  add_text(kModelDoc, model.doc_string());
  add_text(kGraphName, model.graph().name());
  add_text(kGraphDoc, model.graph().doc_string());
  const auto add_texts = [&](const char* name, const ir::Strings& texts) {
    if (!texts.empty()) attrs.push_back({ir::Name(name), context_->StringsAttr(texts)});
  };
  add_texts(kMetadata, MetadataOf(model.metadata_props()));
  add_texts(kGraphMetadata, MetadataOf(model.graph().metadata_props()));
  add_texts(kValueNotes, ValueNotes(model.graph()));
  Rewriter(program_.get()).SetAttrs(program_->module(), context_->Dict(std::move(attrs)));
  return absl::OkStatus();
}

absl::Status Importer::StatedTypes(const pb::GraphProto& graph, Scope* scope) {
  const auto add = [&](const pb::ValueInfoProto& info) -> absl::Status {
    absl::StatusOr<Type> type = TypeFromProto(context_, info.type(), limits_);
    if (!type.ok())
      return ir::Annotate(type.status(), fmt::format("type of {}", Quoted(info.name())));
    scope->stated.try_emplace(info.name(), *type);
    return absl::OkStatus();
  };
  for (const auto& info : graph.input()) WEFT_RETURN_IF_ERROR(add(info));
  for (const auto& info : graph.output()) WEFT_RETURN_IF_ERROR(add(info));
  for (const auto& info : graph.value_info()) WEFT_RETURN_IF_ERROR(add(info));
  // Elements of a sequence may differ; of those that the model is given, its user may say otherwise.
  absl::flat_hash_set<std::string> inputs;
  if (scope->outer == nullptr)
    for (const auto& info : graph.input()) inputs.insert(info.name());
  for (auto& [name, type] : scope->stated)
    if (HoldsSequence(type) && !inputs.contains(name)) type = WithSymbols(*context_, type, {});
  return absl::OkStatus();
}

// A symbol is a size of the graph that states it, and of one run of that: in a body that is run again, or in another
// graph, the same name may be another size. So within graphs of nodes what is stated with symbols is not believed,
// unless they are sizes of what a loop carries and never change; inference tells the others anew.
void Importer::ForgetSymbols(const pb::GraphProto& graph, Operation op, Scope* scope) {
  std::vector<Carried> carried;
  if (op.Is<ir::ops::Loop>())
    for (int i = 0; i < std::min(graph.input_size() - 2, graph.output_size() - 1); ++i)
      carried.push_back({scope->stated[graph.input(i + 2).name()],
                         TypeOfOperand(op, static_cast<uint32_t>(i) + ir::ops::Loop::kFirstCarried),
                         scope->stated[graph.output(i + 1).name()]});
  const Dims known = DimsThatStay(carried);
  for (auto& [name, type] : scope->stated) type = WithSymbols(*context_, type, known);
}

absl::Status Importer::Define(Scope* scope, const std::string& name, Value value) {
  if (name.empty()) return ir::InvalidArgument("a value has no name");
  if (!IsUtf8(name)) return ir::InvalidArgument(fmt::format("name {} is not UTF-8", Quoted(name)));
  if (!scope->values.try_emplace(name, value).second)
    return ir::InvalidArgument(fmt::format("value {} is defined twice", Quoted(name)));
  return absl::OkStatus();
}

absl::StatusOr<Value> Importer::Find(const Scope& scope, const std::string& name) const {
  for (const Scope* s = &scope; s; s = s->outer) {
    if (const auto it = s->unreadable.find(name); it != s->unreadable.end())
      return ir::Unsupported(fmt::format("{} is {}", Quoted(name), it->second));
    if (const auto it = s->values.find(name); it != s->values.end()) return it->second;
  }
  for (const Scope* s = &scope; s; s = s->outer) {
    if (s->nodes == nullptr) continue;
    for (const pb::NodeProto& node : *s->nodes)
      if (std::find(node.output().begin(), node.output().end(), name) != node.output().end())
        return ir::InvalidArgument(fmt::format(
            "{} is used before it is computed: the nodes are in no order, or in a cycle",
            Quoted(name)));
  }
  return ir::InvalidArgument(fmt::format("{} is not defined", Quoted(name)));
}

Value Importer::MakeConstant(Rewriter& builder, Attribute dense) {
  const ir::AttrDict attrs = context_->Dict({{ir::Name("value"), dense}});
  return builder
      .Create({.opcode = ir::kOpcodeOf<ir::ConstantOp>,
               .attrs = attrs,
               .result_types = {dense.dense_type()}})
      .result();
}

absl::Status Importer::Initializers(const pb::GraphProto& graph, Rewriter& builder, Scope* scope) {
  const auto define = [&](const std::string& name,
                          const absl::StatusOr<Attribute>& dense) -> absl::Status {
    if (!dense.ok())
      return ir::Annotate(dense.status(), fmt::format("initializer {}", Quoted(name)));
    if (scope->overridable.contains(name)) {
      if (program_->parameter(name))
        return ir::InvalidArgument(fmt::format("value {} is defined twice", Quoted(name)));
      program_->SetParameter(name, *dense);
      return absl::OkStatus();
    }
    const Value value = MakeConstant(builder, *dense);
    WEFT_RETURN_IF_ERROR(Define(scope, name, value));
    program_->SetName(value, name);
    return absl::OkStatus();
  };
  for (const pb::TensorProto& tensor : graph.initializer())
    WEFT_RETURN_IF_ERROR(define(tensor.name(), tensors_.Read(tensor)));
  for (const pb::SparseTensorProto& sparse : graph.sparse_initializer())
    WEFT_RETURN_IF_ERROR(define(sparse.values().name(), tensors_.ReadSparse(sparse)));
  return absl::OkStatus();
}

// Inputs that are initializers too are constants already, or parameters that are their defaults.
// Returns the names of those that are no constants.
absl::StatusOr<std::vector<std::string>> Importer::Inputs(const pb::GraphProto& graph, Block block,
                                                          Rewriter& builder, Scope* scope) {
  std::vector<std::string> names;
  ir::InputDefaults defaults;
  absl::flat_hash_set<std::string> seen;
  for (const pb::ValueInfoProto& input : graph.input()) {
    if (!seen.insert(input.name()).second)
      return ir::InvalidArgument(fmt::format("input {} appears twice", Quoted(input.name())));
    if (!scope->outer && IsUnknown(Innermost(scope->stated[input.name()])))
      return ir::InvalidArgument(fmt::format("input {} has no type", Quoted(input.name())));
    if (scope->values.contains(input.name())) continue;
    const Value argument = builder.AddArgument(block, scope->stated[input.name()]);
    WEFT_RETURN_IF_ERROR(Define(scope, input.name(), argument));
    program_->SetName(argument, input.name());
    names.push_back(input.name());
    if (const Attribute dense = program_->parameter(input.name());
        dense && scope->overridable.contains(input.name()))
      defaults.emplace_back(input.name(), dense);
  }
  ir::SetDefaultsOfInputs(*program_, defaults);
  return names;
}

absl::StatusOr<std::vector<Value>> Importer::Outputs(const pb::GraphProto& graph,
                                                     const Scope& scope) {
  std::vector<Value> values;
  for (const pb::ValueInfoProto& output : graph.output()) {
    if (output.name().empty()) return ir::InvalidArgument("an output has no name");
    absl::StatusOr<Value> value = Find(scope, output.name());
    if (!value.ok()) return ir::Annotate(value.status(), "output");
    if (!*value)
      return ir::InvalidArgument(fmt::format("output {} is not given", Quoted(output.name())));
    values.push_back(*value);
  }
  return values;
}

absl::Status Importer::ImportSubgraph(const pb::GraphProto& graph, ir::Region region,
                                      const Scope& outer, const Frame& frame) {
  if (++graph_depth_ > limits_.max_graph_depth)
    return ir::InvalidArgument(
        fmt::format("graphs are nested deeper than {}", limits_.max_graph_depth));
  Rewriter builder(program_.get());
  const Block block = builder.AppendBlock(region);
  builder.SetInsertionPointToEnd(block);
  Scope scope{.outer = &outer, .nodes = &graph.node()};
  WEFT_RETURN_IF_ERROR(StatedTypes(graph, &scope));
  ForgetSymbols(graph, region.ParentOp(), &scope);
  WEFT_RETURN_IF_ERROR(Initializers(graph, builder, &scope));
  WEFT_RETURN_IF_ERROR(Inputs(graph, block, builder, &scope).status());
  WEFT_RETURN_IF_ERROR(ImportNodes(graph.node(), builder, &scope, frame));
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> outputs, Outputs(graph, scope));
  builder.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = std::move(outputs)});
  --graph_depth_;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ir::Program>> Importer::Run(const pb::ModelProto& model) {
  WEFT_RETURN_IF_ERROR(CheckModel(model));
  WEFT_ASSIGN_OR_RETURN(const OpsetImports opsets, ReadOpsets(model));
  WEFT_ASSIGN_OR_RETURN(functions_, FunctionLibrary::Read(model, limits_));
  WEFT_RETURN_IF_ERROR(Header(model));

  const pb::GraphProto& graph = model.graph();
  Rewriter builder(program_.get());
  Scope scope{.nodes = &graph.node()};
  // Before IR version 4 every initializer had to be listed as an input.
  if (model.ir_version() >= 4 && !fold_default_inputs_)
    for (const auto& input : graph.input()) scope.overridable.insert(input.name());
  const Frame frame{.opsets = &opsets};
  WEFT_RETURN_IF_ERROR(StatedTypes(graph, &scope));
  WEFT_RETURN_IF_ERROR(Initializers(graph, builder, &scope));
  WEFT_ASSIGN_OR_RETURN(const ir::Strings inputs, Inputs(graph, program_->body(), builder, &scope));
  WEFT_RETURN_IF_ERROR(ImportNodes(graph.node(), builder, &scope, frame));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> values, Outputs(graph, scope));
  std::vector<std::pair<std::string, Value>> outputs;
  absl::flat_hash_set<std::string> seen;
  for (int i = 0; i < graph.output_size(); ++i) {
    if (!seen.insert(graph.output(i).name()).second)
      return ir::InvalidArgument(
          fmt::format("output {} appears twice", Quoted(graph.output(i).name())));
    outputs.emplace_back(graph.output(i).name(), values[static_cast<size_t>(i)]);
  }
  SetOpsetImports(opsets);
  builder.SetAttr(program_->module(), "input_names", context_->StringsAttr(inputs));
  if (!node_notes_.empty())
    builder.SetAttr(program_->module(), kNodeNotes, context_->StringsAttr(node_notes_));
  builder.Return(std::move(outputs));
  WEFT_RETURN_IF_ERROR(ir::Verify(*program_));
  return std::move(program_);
}

absl::StatusOr<std::unique_ptr<ir::Program>> ImportModel(ir::IrContext* context,
                                                         const pb::ModelProto& model,
                                                         TensorReader& tensors,
                                                         const ImportOptions& options) {
  return Importer(context, tensors, options).Run(model);
}

}  // namespace weft::onnx

#include "tools/onnx/internal/importer.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "ir/verifier.h"
#include "tools/onnx/internal/adapters.h"
#include "tools/onnx/internal/function_library.h"
#include "tools/onnx/internal/fused_functions.h"
#include "tools/onnx/internal/names.h"
#include "tools/onnx/internal/proto_attribute.h"
#include "tools/onnx/internal/proto_type.h"
#include "tools/onnx/internal/text.h"

namespace weft::tools::bridge {
namespace {

using ir::Attribute;
using ir::Block;
using ir::Operation;
using ir::Rewriter;
using ir::Type;
using ir::Value;
using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// The names that are visible in a graph or a function body.
struct Scope {
  const Scope* outer = nullptr;  // null for the main graph and for function bodies
  const Nodes* nodes = nullptr;
  absl::flat_hash_map<std::string, Value> values{};
  absl::flat_hash_map<std::string, Type> stated{};  // types that the graph's annotations give
};

// An attribute of a node after references to attributes of the function around it were followed.
struct BoundAttribute {
  std::string name;
  const pb::AttributeProto* value;
};

// What the nodes of the main graph, or of one call of a function, have in common.
struct Frame {
  const LocalFunction* function = nullptr;  // null for the main graph
  const OpsetImports* opsets = nullptr;
  std::vector<BoundAttribute> attributes{};  // of the call
  std::string prefix{};                      // of the names of values and nodes
  int depth = 0;
};

struct Subgraph {
  std::string label;  // "body", or "branches[]" in a list
  const pb::GraphProto* graph;
};

constexpr std::string_view kNodePrefix = "node ";
std::string DescribeNode(const pb::NodeProto& node) {
  if (node.name().empty() && node.output_size() > 0)
    return fmt::format("{}of {} ({})", kNodePrefix, Quoted(node.output(0)), Quoted(node.op_type()));
  return fmt::format("{}{} ({})", kNodePrefix, Quoted(node.name()), Quoted(node.op_type()));
}

// A name in a function body, made longer by the names of the calls around it. Names that are long
// already are dropped there: a body is copied once per call, and memory must not grow with both.
constexpr size_t kMaxInlinedName = 256;
std::string PrefixedName(const Frame& frame, const std::string& name) {
  if (name.empty() || !frame.function) return name;
  return name.size() > kMaxInlinedName ? std::string() : frame.prefix + name;
}

std::string CallPrefix(const Frame& frame, const std::string& call) {
  if (call.size() + frame.prefix.size() > kMaxInlinedName) return frame.prefix;
  return frame.prefix + call + "/";
}

// Printable ASCII that needs no quoting in the text form.
bool IsOperatorName(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

class Importer {
 public:
  Importer(ir::IrContext* context, TensorReader& tensors, const ImportLimits& limits)
      : context_(context),
        tensors_(tensors),
        limits_(limits),
        program_(std::make_unique<ir::Program>(context)),
        fused_(context, &tensors) {
    for (const ir::OpDef* def : context->Ops())
      if (!def->info->onnx.empty())
        known_.try_emplace(
            std::pair(std::string(def->info->onnx_domain), std::string(def->info->onnx)), def);
  }

  absl::StatusOr<std::unique_ptr<ir::Program>> Run(const pb::ModelProto& model);

 private:
  // --- graphs ---
  absl::Status Header(const pb::ModelProto& model, const OpsetImports& opsets);
  absl::Status StatedTypes(const pb::GraphProto& graph, Scope* scope);
  absl::Status Define(Scope* scope, const std::string& name, Value value);
  absl::StatusOr<Value> Find(const Scope& scope, const std::string& name) const;
  absl::Status Initializers(const pb::GraphProto& graph, Rewriter& builder, Scope* scope);
  absl::StatusOr<std::vector<std::string>> Inputs(const pb::GraphProto& graph, Block block,
                                                  Rewriter& builder, Scope* scope);
  absl::StatusOr<std::vector<Value>> Outputs(const pb::GraphProto& graph, const Scope& scope);
  absl::Status ImportSubgraph(const pb::GraphProto& graph, ir::Region region, const Scope& outer,
                              const Frame& frame);

  // --- nodes ---
  absl::Status ImportNodes(const Nodes& nodes, Rewriter& builder, Scope* scope, const Frame& frame);
  absl::Status ImportNode(const pb::NodeProto& node, Rewriter& builder, Scope* scope,
                          const Frame& frame);
  absl::Status CheckNode(const pb::NodeProto& node);
  absl::StatusOr<std::vector<BoundAttribute>> Bind(const pb::NodeProto& node, const Frame& frame);
  absl::Status ImportConstant(const pb::NodeProto& node,
                              const std::vector<BoundAttribute>& attributes, Rewriter& builder,
                              Scope* scope, const Frame& frame);
  absl::StatusOr<Attribute> ConstantContents(const BoundAttribute& attribute);
  absl::Status ReadAttributes(const std::vector<BoundAttribute>& attributes, NodeDraft* draft,
                              std::vector<Subgraph>* subgraphs);
  absl::Status ImportKnown(const ir::OpDef& def, const pb::NodeProto& node, NodeDraft draft,
                           Rewriter& builder, Scope* scope, const Frame& frame);
  absl::Status ImportOpaque(const pb::NodeProto& node, NodeDraft draft,
                            const std::vector<Subgraph>& subgraphs, Rewriter& builder, Scope* scope,
                            const Frame& frame);
  absl::Status ImportCall(const LocalFunction& function, const pb::NodeProto& node,
                          std::vector<Value> operands, std::vector<BoundAttribute> attributes,
                          Rewriter& builder, Scope* scope, const Frame& frame);
  absl::Status DefineResults(const pb::NodeProto& node, const std::vector<Value>& results,
                             Scope* scope, const Frame& frame);
  absl::StatusOr<Type> ResultType(const pb::NodeProto& node, size_t i, Type inferred,
                                  const Scope& scope);
  absl::StatusOr<std::vector<Value>> Finish(const pb::NodeProto& node, const NodeDraft& draft,
                                            Operation op, Rewriter& builder, const Scope& scope);

  Value MakeConstant(Rewriter& builder, Attribute dense);

  ir::IrContext* context_;
  TensorReader& tensors_;
  const ImportLimits& limits_;
  std::unique_ptr<ir::Program> program_;
  FunctionLibrary functions_;
  FusedFunctionReader fused_;
  absl::flat_hash_map<std::pair<std::string, std::string>, const ir::OpDef*> known_;
  size_t num_nodes_ = 0;
  int graph_depth_ = 1;  // nesting of regions, through calls of functions too
};

// --- graphs -----------------------------------------------------------------------

absl::Status Importer::Header(const pb::ModelProto& model, const OpsetImports& opsets) {
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
  ir::Strings imports, metadata;
  for (const auto& [domain, version] : opsets.versions()) {
    if (domain == kFusedDomain) continue;  // written again when it is needed
    imports.push_back(fmt::format("{}:{}", domain, domain.empty() ? kOpset : version));
  }
  attrs.push_back({ir::Name(kOpsetImports), context_->StringsAttr(imports)});
  for (const auto& entry : model.metadata_props()) {
    metadata.push_back(entry.key());
    metadata.push_back(entry.value());
  }
  if (!metadata.empty()) attrs.push_back({ir::Name(kMetadata), context_->StringsAttr(metadata)});
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
  return absl::OkStatus();
}

absl::Status Importer::Define(Scope* scope, const std::string& name, Value value) {
  if (name.empty()) return ir::InvalidArgument("a value has no name");
  if (!IsUtf8(name)) return ir::InvalidArgument(fmt::format("name {} is not UTF-8", Quoted(name)));
  if (!scope->values.try_emplace(name, value).second)
    return ir::InvalidArgument(fmt::format("value {} is defined twice", Quoted(name)));
  return absl::OkStatus();
}

absl::StatusOr<Value> Importer::Find(const Scope& scope, const std::string& name) const {
  for (const Scope* s = &scope; s; s = s->outer)
    if (const auto it = s->values.find(name); it != s->values.end()) return it->second;
  for (const Scope* s = &scope; s; s = s->outer)
    for (const pb::NodeProto& node : *s->nodes)
      if (std::find(node.output().begin(), node.output().end(), name) != node.output().end())
        return ir::InvalidArgument(fmt::format(
            "{} is used before it is computed: the nodes are in no order, or in a cycle",
            Quoted(name)));
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
  if (graph.sparse_initializer_size() > 0) return ir::Unsupported("sparse initializers");
  for (const pb::TensorProto& tensor : graph.initializer()) {
    absl::StatusOr<Attribute> dense = tensors_.Read(tensor);
    if (!dense.ok())
      return ir::Annotate(dense.status(), fmt::format("initializer {}", Quoted(tensor.name())));
    const Value value = MakeConstant(builder, *dense);
    WEFT_RETURN_IF_ERROR(Define(scope, tensor.name(), value));
    program_->SetName(value, tensor.name());
  }
  return absl::OkStatus();
}

// Inputs that are initializers too are constants already. Returns the names of the others.
absl::StatusOr<std::vector<std::string>> Importer::Inputs(const pb::GraphProto& graph, Block block,
                                                          Rewriter& builder, Scope* scope) {
  std::vector<std::string> names;
  absl::flat_hash_set<std::string> seen;
  for (const pb::ValueInfoProto& input : graph.input()) {
    if (!seen.insert(input.name()).second)
      return ir::InvalidArgument(fmt::format("input {} appears twice", Quoted(input.name())));
    if (scope->values.contains(input.name())) continue;
    const Value argument = builder.AddArgument(block, scope->stated[input.name()]);
    WEFT_RETURN_IF_ERROR(Define(scope, input.name(), argument));
    program_->SetName(argument, input.name());
    names.push_back(input.name());
  }
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
  WEFT_RETURN_IF_ERROR(Initializers(graph, builder, &scope));
  WEFT_RETURN_IF_ERROR(Inputs(graph, block, builder, &scope).status());
  WEFT_RETURN_IF_ERROR(ImportNodes(graph.node(), builder, &scope, frame));
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> outputs, Outputs(graph, scope));
  builder.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = std::move(outputs)});
  --graph_depth_;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ir::Program>> Importer::Run(const pb::ModelProto& model) {
  if (model.ir_version() < 1)
    return ir::InvalidArgument(fmt::format("ir_version is {}", model.ir_version()));
  if (!model.has_graph()) return ir::InvalidArgument("the model has no graph");
  WEFT_ASSIGN_OR_RETURN(const OpsetImports opsets, OpsetImports::Read(model.opset_import()));
  WEFT_ASSIGN_OR_RETURN(functions_, FunctionLibrary::Read(model, limits_));
  WEFT_RETURN_IF_ERROR(Header(model, opsets));

  const pb::GraphProto& graph = model.graph();
  Rewriter builder(program_.get());
  Scope scope{.nodes = &graph.node()};
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
  builder.SetAttr(program_->module(), "input_names", context_->StringsAttr(inputs));
  builder.Return(std::move(outputs));
  WEFT_RETURN_IF_ERROR(ir::Verify(*program_));
  return std::move(program_);
}

// --- nodes ------------------------------------------------------------------------

absl::Status Importer::ImportNodes(const Nodes& nodes, Rewriter& builder, Scope* scope,
                                   const Frame& frame) {
  for (const pb::NodeProto& node : nodes) {
    if (++num_nodes_ > limits_.max_nodes)
      return ir::InvalidArgument(fmt::format("more than {} nodes", limits_.max_nodes));
    const absl::Status status = ImportNode(node, builder, scope, frame);
    if (status.ok()) continue;
    // The innermost node and the one in the main graph are named, not all calls between them.
    const bool is_main = frame.depth == 0 && !scope->outer;
    const bool is_named = ir::Message(status).starts_with(kNodePrefix);
    return is_main || !is_named ? ir::Annotate(status, DescribeNode(node)) : status;
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckNode(const pb::NodeProto& node) {
  if (node.op_type().empty()) return ir::InvalidArgument("has no op_type");
  if (!IsOperatorName(node.op_type()) || !IsOperatorName(node.domain()))
    return ir::InvalidArgument(
        fmt::format("bad operator name {}", Quoted(node.domain() + "." + node.op_type())));
  if (!IsUtf8(node.name())) return ir::InvalidArgument("its name is not UTF-8");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BoundAttribute>> Importer::Bind(const pb::NodeProto& node,
                                                           const Frame& frame) {
  std::vector<BoundAttribute> bound;
  absl::flat_hash_set<std::string> seen;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    if (name.empty() || !IsUtf8(name))
      return ir::InvalidArgument(fmt::format("an attribute has the bad name {}", Quoted(name)));
    if (name.starts_with(kReservedPrefix))
      return ir::Unsupported(fmt::format("an attribute named {}", Quoted(name)));
    if (!seen.insert(name).second)
      return ir::InvalidArgument(fmt::format("attribute {} is given twice", Quoted(name)));
    const std::string& ref = attribute.ref_attr_name();
    if (ref.empty()) {
      bound.push_back({name, &attribute});
      continue;
    }
    if (!frame.function)
      return ir::InvalidArgument(fmt::format("attribute {} refers to {} outside of a function",
                                             Quoted(name), Quoted(ref)));
    for (const BoundAttribute& outer : frame.attributes)
      if (outer.name == ref) bound.push_back({name, outer.value});
  }
  return bound;
}

absl::Status Importer::ImportNode(const pb::NodeProto& node, Rewriter& builder, Scope* scope,
                                  const Frame& frame) {
  WEFT_RETURN_IF_ERROR(CheckNode(node));
  builder.set_location(ir::Name(PrefixedName(frame, node.name())));
  NodeDraft draft{.domain = std::string(NormalDomain(node.domain())), .op_type = node.op_type()};
  for (const std::string& input : node.input()) {
    Value value;
    if (!input.empty()) {
      WEFT_ASSIGN_OR_RETURN(value, Find(*scope, input));
    }
    draft.operands.push_back(value);
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<BoundAttribute> attributes, Bind(node, frame));
  if (const LocalFunction* function = functions_.Find(draft.domain, draft.op_type))
    return ImportCall(*function, node, std::move(draft.operands), std::move(attributes), builder,
                      scope, frame);
  WEFT_ASSIGN_OR_RETURN(draft.version, frame.opsets->Version(draft.domain));
  const bool is_onnx = draft.domain.empty();
  if (is_onnx && draft.op_type == "Constant")
    return ImportConstant(node, attributes, builder, scope, frame);

  while (!draft.operands.empty() && !draft.operands.back()) draft.operands.pop_back();
  draft.num_results = static_cast<size_t>(node.output_size());
  while (draft.num_results > 0 && node.output(static_cast<int>(draft.num_results) - 1).empty())
    --draft.num_results;
  std::vector<Subgraph> subgraphs;
  WEFT_RETURN_IF_ERROR(ReadAttributes(attributes, &draft, &subgraphs));
  if (is_onnx) {
    WEFT_RETURN_IF_ERROR(RaiseToOpset17(builder, &draft));
    NormalizeWindow(builder, &draft);
  }
  const auto it = known_.find(std::pair(draft.domain, draft.op_type));
  if (it == known_.end())
    return ImportOpaque(node, std::move(draft), subgraphs, builder, scope, frame);
  if (!subgraphs.empty())
    return ir::InvalidArgument(fmt::format("attribute {} is a graph", Quoted(subgraphs[0].label)));
  return ImportKnown(*it->second, node, std::move(draft), builder, scope, frame);
}

absl::StatusOr<Attribute> Importer::ConstantContents(const BoundAttribute& attribute) {
  const pb::AttributeProto& proto = *attribute.value;
  const std::string& name = attribute.name;
  if (name == "sparse_value") return ir::Unsupported("a sparse constant");
  WEFT_ASSIGN_OR_RETURN(const Attribute value, AttributeFromProto(context_, proto, tensors_));
  const auto tensor = [&](ir::DataType dtype, const auto& list, bool scalar) {
    using T = typename std::decay_t<decltype(list)>::value_type;
    const ir::Shape dims = scalar ? ir::Shape() : ir::Shape{static_cast<int64_t>(list.size())};
    return context_->DenseAttrOf(context_->TensorType(dtype, dims), std::span<const T>(list));
  };
  const auto strings = [&](const ir::Strings& list, bool scalar) {
    const ir::Shape dims = scalar ? ir::Shape() : ir::Shape{static_cast<int64_t>(list.size())};
    return context_->DenseStringsAttr(context_->TensorType(ir::DataType::kString, dims), list);
  };
  using ir::AttrKind;
  if (name == "value" && value.Is(AttrKind::kDense)) return value;
  if (name == "value_int" && value.Is(AttrKind::kInt))
    return tensor(ir::DataType::kI64, ir::Ints{value.AsInt()}, true);
  if (name == "value_ints" && value.Is(AttrKind::kInts))
    return tensor(ir::DataType::kI64, value.AsInts(), false);
  if (name == "value_float" && value.Is(AttrKind::kFloat))
    return tensor(ir::DataType::kF32, ir::Floats{value.AsFloat()}, true);
  if (name == "value_floats" && value.Is(AttrKind::kFloats))
    return tensor(ir::DataType::kF32, value.AsFloats(), false);
  if (name == "value_string" && value.Is(AttrKind::kString))
    return strings({value.AsString()}, true);
  if (name == "value_strings" && value.Is(AttrKind::kStrings))
    return strings(value.AsStrings(), false);
  return ir::InvalidArgument(fmt::format("attribute {} is no constant", Quoted(name)));
}

absl::Status Importer::ImportConstant(const pb::NodeProto& node,
                                      const std::vector<BoundAttribute>& attributes,
                                      Rewriter& builder, Scope* scope, const Frame& frame) {
  if (node.input_size() > 0) return ir::InvalidArgument("a constant has inputs");
  if (attributes.size() != 1)
    return ir::InvalidArgument(
        fmt::format("a constant has {} values, expected 1", attributes.size()));
  WEFT_ASSIGN_OR_RETURN(const Attribute dense, ConstantContents(attributes[0]));
  if (node.output_size() != 1) return ir::InvalidArgument("a constant has not exactly one output");
  return DefineResults(node, {MakeConstant(builder, dense)}, scope, frame);
}

absl::Status Importer::ReadAttributes(const std::vector<BoundAttribute>& attributes,
                                      NodeDraft* draft, std::vector<Subgraph>* subgraphs) {
  for (const BoundAttribute& bound : attributes) {
    if (!IsGraphAttribute(*bound.value)) {
      WEFT_ASSIGN_OR_RETURN(const Attribute value,
                            AttributeFromProto(context_, *bound.value, tensors_));
      draft->attributes.push_back({ir::Name(bound.name), value});
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(const auto type, AttributeTypeOf(*bound.value));
    if (type == pb::AttributeProto::GRAPH) subgraphs->push_back({bound.name, &bound.value->g()});
    for (const pb::GraphProto& graph : bound.value->graphs())
      subgraphs->push_back({bound.name + "[]", &graph});
  }
  return absl::OkStatus();
}

absl::StatusOr<Type> Importer::ResultType(const pb::NodeProto& node, size_t i, Type inferred,
                                          const Scope& scope) {
  const bool named = i < static_cast<size_t>(node.output_size());
  const auto it = named ? scope.stated.find(node.output(static_cast<int>(i))) : scope.stated.end();
  const Type stated = it == scope.stated.end() ? Type() : it->second;
  absl::StatusOr<Type> type = MergeTypes(context_, inferred, stated);
  if (!type.ok()) return ir::Annotate(type.status(), Quoted(node.output(static_cast<int>(i))));
  return type;
}

// The values of the node's outputs, when op is what the node was raised to.
absl::StatusOr<std::vector<Value>> Importer::Finish(const pb::NodeProto& node,
                                                    const NodeDraft& draft, Operation op,
                                                    Rewriter& builder, const Scope& scope) {
  std::vector<Value> results = op.results().vec();
  if (!draft.finish || results.empty()) return results;
  WEFT_ASSIGN_OR_RETURN(results[0], draft.finish(builder, results[0]));
  WEFT_ASSIGN_OR_RETURN(const Type type, ResultType(node, 0, results[0].type(), scope));
  builder.SetType(results[0], type);
  return results;
}

absl::Status Importer::ImportKnown(const ir::OpDef& def, const pb::NodeProto& node, NodeDraft draft,
                                   Rewriter& builder, Scope* scope, const Frame& frame) {
  ir::OperationState state{.opcode = def.opcode, .operands = std::move(draft.operands)};
  WEFT_ASSIGN_OR_RETURN(state.attrs, FitToFields(context_, def, draft.attributes));
  size_t required = 0;
  for (const ir::OperandDef& r : def.info->results) required += r.arity == ir::Arity::kOne;
  std::string error;
  std::vector<Type> types;
  if (!ir::InferResultTypes(context_, state, std::max(required, draft.num_results), &types, &error))
    return ir::InvalidArgument(error);
  for (size_t i = 0; i < types.size(); ++i) {
    if (i == 0 && draft.finish) {
      if (!types[i]) types[i] = context_->UnrankedTensorType(ir::DataType::kNull);
      continue;  // the annotation speaks about the final value
    }
    WEFT_ASSIGN_OR_RETURN(types[i], ResultType(node, i, types[i], *scope));
  }
  state.result_types = std::move(types);
  const Operation op = builder.Create(std::move(state));
  WEFT_RETURN_IF_ERROR(ir::VerifyOperation(op));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results, Finish(node, draft, op, builder, *scope));
  return DefineResults(node, results, scope, frame);
}

absl::Status Importer::ImportOpaque(const pb::NodeProto& node, NodeDraft draft,
                                    const std::vector<Subgraph>& subgraphs, Rewriter& builder,
                                    Scope* scope, const Frame& frame) {
  const std::string dialect = draft.domain.empty() ? std::string(kOnnxDialect) : draft.domain;
  const std::string name = dialect + "." + draft.op_type;
  if (draft.op_type.find('.') != std::string::npos)
    return ir::Unsupported(fmt::format("an operator named {}", Quoted(draft.op_type)));
  if ((draft.domain + ".").starts_with("onnx.") || context_->FindOp(name))
    return ir::Unsupported(fmt::format("operator {} of domain {}, the name of a dialect here",
                                       Quoted(draft.op_type), Quoted(draft.domain)));
  ir::OperationState state{.opcode = ir::Opcode::FindOrAdd(name),
                           .operands = std::move(draft.operands),
                           .num_regions = static_cast<uint32_t>(subgraphs.size())};
  if (!state.opcode.IsValid()) return ir::InvalidArgument("too many different operators");
  ir::Strings labels, names;
  for (const Subgraph& subgraph : subgraphs) {
    labels.push_back(subgraph.label);
    names.push_back(subgraph.graph->name());
  }
  if (!subgraphs.empty()) {
    draft.SetAttribute(kSubgraphs, context_->StringsAttr(labels));
    draft.SetAttribute(kSubgraphNames, context_->StringsAttr(names));
  }
  if (!node.doc_string().empty())
    draft.SetAttribute(kNodeDoc, context_->StringAttr(node.doc_string()));
  state.attrs = context_->Dict(std::move(draft.attributes));
  for (size_t i = 0; i < draft.num_results; ++i) {
    if (i == 0 && draft.finish) {  // raised to an op that keeps the type of its operand
      state.result_types.push_back(state.operands[0].type());
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(const Type type, ResultType(node, i, Type(), *scope));
    state.result_types.push_back(type);
  }
  const Operation op = builder.Create(std::move(state));
  for (size_t i = 0; i < subgraphs.size(); ++i)
    WEFT_RETURN_IF_ERROR(
        ImportSubgraph(*subgraphs[i].graph, op.region(static_cast<uint32_t>(i)), *scope, frame));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results, Finish(node, draft, op, builder, *scope));
  return DefineResults(node, results, scope, frame);
}

absl::Status Importer::ImportCall(const LocalFunction& function, const pb::NodeProto& node,
                                  std::vector<Value> operands,
                                  std::vector<BoundAttribute> attributes, Rewriter& builder,
                                  Scope* scope, const Frame& frame) {
  const pb::FunctionProto& proto = *function.proto;
  if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
    return ir::InvalidArgument(fmt::format(
        "has {} inputs and {} outputs but the function has {} and {}", node.input_size(),
        node.output_size(), proto.input_size(), proto.output_size()));
  if (frame.depth >= limits_.max_call_depth)
    return ir::InvalidArgument(
        fmt::format("functions call each other deeper than {}", limits_.max_call_depth));
  operands.resize(static_cast<size_t>(proto.input_size()));
  if (proto.domain() == kFusedDomain && attributes.empty()) {
    const Operation op = fused_.Recognise(proto, operands, builder);
    if (op) return DefineResults(node, op.results().vec(), scope, frame);
  }

  for (const pb::AttributeProto& fallback : function.defaults)
    if (std::none_of(attributes.begin(), attributes.end(),
                     [&](const BoundAttribute& a) { return a.name == fallback.name(); }))
      attributes.push_back({fallback.name(), &fallback});
  Frame inner{.function = &function,
              .opsets = &function.opsets,
              .attributes = std::move(attributes),
              .prefix = CallPrefix(frame, node.name().empty() ? proto.name() : node.name()),
              .depth = frame.depth + 1};
  Scope body{.nodes = &proto.node()};
  for (int i = 0; i < proto.input_size(); ++i)
    WEFT_RETURN_IF_ERROR(Define(&body, proto.input(i), operands[static_cast<size_t>(i)]));
  WEFT_RETURN_IF_ERROR(ImportNodes(proto.node(), builder, &body, inner));
  std::vector<Value> results;
  for (int i = 0; i < node.output_size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const Value value, Find(body, proto.output(i)));
    results.push_back(value);
    // The caller's name is the better one, but a function may also return one of its inputs.
    if (value && std::find(operands.begin(), operands.end(), value) == operands.end())
      program_->SetName(value, "");
  }
  return DefineResults(node, results, scope, frame);
}

absl::Status Importer::DefineResults(const pb::NodeProto& node, const std::vector<Value>& results,
                                     Scope* scope, const Frame& frame) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const Value value =
        static_cast<size_t>(i) < results.size() ? results[static_cast<size_t>(i)] : Value();
    WEFT_RETURN_IF_ERROR(Define(scope, name, value));
    if (value && value.name().empty()) program_->SetName(value, PrefixedName(frame, name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Program>> ImportModel(ir::IrContext* context,
                                                         const pb::ModelProto& model,
                                                         TensorReader& tensors,
                                                         const ImportLimits& limits) {
  return Importer(context, tensors, limits).Run(model);
}

}  // namespace weft::tools::bridge

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/control.h"
#include "ir/infer.h"
#include "tools/onnx/import/importer_impl.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"
#include "tools/onnx/proto/origin_metadata.h"
#include "tools/onnx/proto/proto_attribute.h"
#include "tools/onnx/proto/proto_type.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::Operation;
using ir::Rewriter;
using ir::Type;
using ir::Value;

constexpr std::string_view kNodePrefix = "node ";
std::string DescribeNode(const pb::NodeProto& node) {
  if (node.name().empty() && node.output_size() > 0)
    return fmt::format("{}of {} ({})", kNodePrefix, Quoted(node.output(0)), Quoted(node.op_type()));
  return fmt::format("{}{} ({})", kNodePrefix, Quoted(node.name()), Quoted(node.op_type()));
}

// Printable ASCII that needs no quoting in the text form.
bool IsOperatorName(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

// Puts the graphs of a node in the order of the regions of the op that it becomes.
absl::Status OrderSubgraphs(const ir::OpDef& def, std::vector<Subgraph>* subgraphs) {
  const std::span<const std::string_view> names = ir::ops::RegionNames(def.opcode);
  std::vector<Subgraph> ordered;
  for (const std::string_view name : names) {
    const auto it = std::find_if(subgraphs->begin(), subgraphs->end(),
                                 [&](const Subgraph& s) { return s.label == name; });
    if (it == subgraphs->end())
      return ir::InvalidArgument(
          fmt::format("attribute {} is required but not given", Quoted(std::string(name))));
    ordered.push_back(std::move(*it));
    subgraphs->erase(it);
  }
  if (!subgraphs->empty())
    return ir::InvalidArgument(
        fmt::format("attribute {} is a graph", Quoted(subgraphs->front().label)));
  *subgraphs = std::move(ordered);
  return absl::OkStatus();
}

}  // namespace

std::string PrefixedName(const Frame& frame, const std::string& name) {
  if (name.empty() || !frame.function) return name;
  return name.size() > kMaxInlinedName ? std::string() : frame.prefix + name;
}

absl::Status Importer::ImportNodes(const Nodes& nodes, Rewriter& builder, Scope* scope,
                                   const Frame& frame) {
  const auto is_known = [&](const std::string& name) {
    for (const Scope* s = scope; s; s = s->outer)
      if (s->values.contains(name)) return true;
    return false;
  };
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> order,
                        OrderOfNodes(nodes, limits_.max_graph_depth, is_known));
  for (const int i : order) {
    const pb::NodeProto& node = nodes[i];
    WEFT_RETURN_IF_ERROR(CountNodes(1));
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
  WEFT_ASSIGN_OR_RETURN(const LocalFunction* const function, functions_.Find(node));
  if (function)
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
    WEFT_RETURN_IF_ERROR(RaiseToNewest(builder, &draft));
    NormalizeWindow(builder, &draft);
  }
  const auto it = known_.find(std::pair(draft.domain, draft.op_type));
  if (it == known_.end())
    return ImportOpaque(node, std::move(draft), subgraphs, builder, scope, frame);
  WEFT_RETURN_IF_ERROR(OrderSubgraphs(*it->second, &subgraphs));
  if (is_onnx && draft.op_type == "Scan" && draft.version < 9)
    return ImportBatchedScan(node, std::move(draft), subgraphs, builder, scope, frame);
  return ImportKnown(*it->second, node, std::move(draft), subgraphs, builder, scope, frame);
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
                                   const std::vector<Subgraph>& subgraphs, Rewriter& builder,
                                   Scope* scope, const Frame& frame) {
  ir::OperationState state{.opcode = def.opcode,
                           .operands = std::move(draft.operands),
                           .num_regions = static_cast<uint32_t>(subgraphs.size())};
  WEFT_ASSIGN_OR_RETURN(state.attrs, FitToFields(context_, def, draft.attributes));
  size_t required = 0;
  for (const ir::OperandDef& r : def.info->results) required += r.arity == ir::Arity::kOne;
  if (required > 0 && draft.num_results == 0) return ir::InvalidArgument("has no output");
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
  WEFT_RETURN_IF_ERROR(ImportRegions(op, subgraphs, builder, *scope, frame));
  WEFT_RETURN_IF_ERROR(ir::VerifyOperation(op));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results, Finish(node, draft, op, builder, *scope));
  WEFT_RETURN_IF_ERROR(DefineResults(node, results, scope, frame, draft.unreadable));
  KeepNotes(node, op, *scope, frame);
  return absl::OkStatus();
}

// A function's body is copied once per call, and names of subgraphs may be those of others.
void Importer::KeepNotes(const pb::NodeProto& node, Operation op, const Scope& scope,
                         const Frame& frame) {
  if (frame.function != nullptr) return;
  ReadOrigin(node, op);
  if (scope.outer == nullptr) AppendNote(NodeKey(op), node, &node_notes_);
}

// The graphs of an op that is defined; its result types follow from theirs.
absl::Status Importer::ImportRegions(Operation op, const std::vector<Subgraph>& subgraphs,
                                     Rewriter& builder, const Scope& scope, const Frame& frame) {
  if (subgraphs.empty()) return absl::OkStatus();
  ir::Strings names;
  for (uint32_t i = 0; i < subgraphs.size(); ++i) {
    names.push_back(subgraphs[i].graph->name());
    WEFT_RETURN_IF_ERROR(ImportSubgraph(*subgraphs[i].graph, op.region(i), scope, frame));
  }
  builder.SetAttr(op, kSubgraphNames, context_->StringsAttr(names));
  if (std::string error; !op.def()->verify(op, &error))
    return ir::InvalidArgument(fmt::format("{}: {}", op.name(), error));
  return ir::RefineResultTypes(op, builder);
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
  const int64_t version = opaque_opsets_.try_emplace(draft.domain, draft.version).first->second;
  if (version != draft.version && !draft.domain.empty())
    return ir::Unsupported(fmt::format("operator set {} of version {}, and elsewhere of version {}",
                                       Quoted(draft.domain), draft.version, version));
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
  if (const ir::Strings metadata = OtherMetadata(node); !metadata.empty())
    draft.SetAttribute(kNodeMetadata, context_->StringsAttr(metadata));
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
  if (frame.function == nullptr) ReadOrigin(node, op);
  for (size_t i = 0; i < subgraphs.size(); ++i)
    WEFT_RETURN_IF_ERROR(
        ImportSubgraph(*subgraphs[i].graph, op.region(static_cast<uint32_t>(i)), *scope, frame));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results, Finish(node, draft, op, builder, *scope));
  return DefineResults(node, results, scope, frame, draft.unreadable);
}

absl::Status Importer::DefineResults(const pb::NodeProto& node, const std::vector<Value>& results,
                                     Scope* scope, const Frame& frame,
                                     const std::string& unreadable) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const Value value =
        static_cast<size_t>(i) < results.size() ? results[static_cast<size_t>(i)] : Value();
    WEFT_RETURN_IF_ERROR(Define(scope, name, value));
    if (!value && !unreadable.empty()) scope->unreadable.try_emplace(name, unreadable);
    if (value && value.name().empty()) program_->SetName(value, PrefixedName(frame, name));
  }
  return absl::OkStatus();
}

}  // namespace weft::onnx

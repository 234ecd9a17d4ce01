#include "tools/onnx/export/graph_writer.h"

#include <fmt/format.h>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/control.h"
#include "ir/infer.h"
#include "ir/walk.h"
#include "tools/onnx/element_types.h"
#include "tools/onnx/export/fused_functions.h"
#include "tools/onnx/export/lowering.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"
#include "tools/onnx/proto/origin_metadata.h"
#include "tools/onnx/proto/proto_attribute.h"
#include "tools/onnx/proto/proto_type.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::Block;
using ir::Operation;
using ir::Value;

// Constants up to this size are equal by value in the context, so sharing says nothing.
constexpr size_t kUniquedSize = 4096;

void AddValueInfo(const std::string& name, ir::Type type,
                  google::protobuf::RepeatedPtrField<pb::ValueInfoProto>* list) {
  pb::ValueInfoProto info;
  info.set_name(name);
  if (TypeToProto(type, info.mutable_type())) *list->Add() = std::move(info);
}

// Graph inputs and outputs are listed even when nothing is known about them.
void AddInterface(const std::string& name, ir::Type type, pb::ValueInfoProto* info) {
  info->set_name(name);
  pb::TypeProto proto;
  if (TypeToProto(type, &proto)) *info->mutable_type() = std::move(proto);
}

absl::Status Annotated(const absl::Status& status, Operation op) {
  const std::string_view where = op.location().str();
  return ir::Annotate(
      status, where.empty() ? std::string(op.name()) : fmt::format("{} ({})", op.name(), where));
}

// Null where nothing is known.
std::vector<ir::Type> InferredTypes(Operation op) {
  std::vector<ir::Type> types(op.num_results());
  std::string error;
  if (!ir::InferResultTypes(op.context(), op.opcode(), op.operands().vec(), op.attrs(), types,
                            &error))
    types.assign(types.size(), ir::Type());
  return types;
}

bool IsOptionalResult(Operation op, uint32_t i) {
  const ir::OpDef* def = op.def();
  if (!def) return true;
  const auto& results = def->info->results;
  return i < results.size() && results[i].arity == ir::Arity::kOptional;
}

}  // namespace

std::string ValueNames::Fresh(std::string_view wanted) {
  std::string name(wanted);
  if (!name.empty() && used_.insert(name).second) return name;
  const std::string stem = name.empty() ? "v" : name + "_";
  for (size_t& i = next_suffix_[stem];;) {
    name = stem + std::to_string(++i);
    if (taken_.count(name) == 0 && used_.insert(name).second) return name;
  }
}

const std::string& ValueNames::Assign(Value value, std::string_view wanted) {
  return names_[value.id()] = Fresh(wanted);
}

// --- constants ----------------------------------------------------------------------

absl::Status GraphWriter::WriteConstant(Operation op, pb::GraphProto* graph, bool top) {
  const Attribute dense = ir::ConstantValue(op.result());
  if (!dense)
    return op.Is<ir::GetParameterOp>() ? ir::InvalidArgument("the program has no such parameter")
                                       : ir::Unsupported("ONNX has no constants but tensors");
  if (dense.IsElided())
    return ir::InvalidArgument("the contents of the tensor were left out of the text");
  std::string_view wanted = op.result().name();
  if (op.Is<ir::GetParameterOp>()) wanted = op.attr("parameter_name").AsString();
  const bool is_large = dense.num_bytes() > kUniquedSize;
  if (constants_ == Constants::kNodes) {
    pb::NodeProto* node = graph->add_node();
    node->set_op_type("Constant");
    node->add_output(names_.Assign(op.result(), wanted));
    return AttributeToProto("value", dense, node->add_attribute());
  }
  if (is_large) {  // written once however many constants share it, and never into a message
    const auto it = large_.find(dense.id());
    if (it != large_.end()) {
      names_.Set(op.result(), it->second);
      return absl::OkStatus();
    }
    large_[dense.id()] = names_.Assign(op.result(), wanted);
    tensors_.push_back({names_.Get(op.result()), dense});
  } else if (top) {
    tensors_.push_back({names_.Assign(op.result(), wanted), dense});
  } else {
    *graph->add_initializer() = TensorToProto(dense, names_.Assign(op.result(), wanted));
  }
  return absl::OkStatus();
}

// --- nodes --------------------------------------------------------------------------

absl::Status GraphWriter::SetOperator(Operation op, pb::NodeProto* node) {
  const std::string name(op.name());
  if (const ir::OpDef* def = op.def()) {
    if (!def->info->onnx.empty()) {
      node->set_op_type(std::string(def->info->onnx));
      if (!def->info->onnx_domain.empty()) node->set_domain(std::string(def->info->onnx_domain));
    } else if (def->decompose && functions_) {
      WEFT_ASSIGN_OR_RETURN(const std::string function, functions_->FunctionFor(op));
      node->set_op_type(function);
      node->set_domain(std::string(kFusedDomain));
    } else {
      return ir::Unsupported("ONNX has no operator for it");
    }
  } else {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == name.size())
      return ir::InvalidArgument("its name is not of the form domain.operator");
    const std::string domain = name.substr(0, dot);
    node->set_op_type(name.substr(dot + 1));
    if (domain != kOnnxDialect) node->set_domain(domain);
  }
  domains_.insert(node->domain());
  return absl::OkStatus();
}

absl::Status GraphWriter::WriteAttributes(Operation op, pb::NodeProto* node) {
  const ir::OpDef* def = op.def();
  if (node->domain() == kFusedDomain && def) return absl::OkStatus();  // baked into the function
  for (const ir::NamedAttribute& entry : op.attrs()) {
    const std::string_view name = entry.name.str();
    if (name.starts_with(kReservedPrefix)) {
      if (name == kNodeDoc && entry.value.Is(ir::AttrKind::kString))
        node->set_doc_string(entry.value.AsString());
      if (name == kNodeMetadata && entry.value.Is(ir::AttrKind::kStrings)) {
        const ir::Strings& list = entry.value.AsStrings();
        for (size_t i = 0; i + 1 < list.size(); i += 2) {
          auto* pair = node->add_metadata_props();
          pair->set_key(list[i]);
          pair->set_value(list[i + 1]);
        }
      }
      continue;
    }
    if (def && !def->FindField(entry.name))
      return ir::InvalidArgument(fmt::format("it has no attribute {}", name));
    WEFT_RETURN_IF_ERROR(AttributeToProto(name, entry.value, node->add_attribute()));
  }
  return absl::OkStatus();
}

absl::Status GraphWriter::WriteSubgraph(ir::Region region, pb::GraphProto* graph) {
  if (region.blocks().size() != 1)
    return ir::Unsupported("ONNX has no regions but those of one block");
  const Block block = region.front();
  for (Value argument : block.arguments())
    AddInterface(names_.Assign(argument, argument.name()), argument.type(), graph->add_input());
  WEFT_RETURN_IF_ERROR(WriteOps(block, graph, false));
  const Operation end = block.Terminator();
  if (!end) return ir::InvalidArgument("a region does not end with builtin.return");
  std::set<std::string> returned;
  for (Value value : end.operands()) {
    if (!value) return ir::InvalidArgument("a region returns nothing in the place of a value");
    std::string name = names_.Get(value);
    if (!IsPlainResult(value, block) || !returned.insert(name).second) {
      WEFT_ASSIGN_OR_RETURN(name, Copy(value, names_.Fresh(name), graph));
    }
    AddInterface(name, value.type(), graph->add_output());
  }
  return absl::OkStatus();
}

absl::Status GraphWriter::WriteSubgraphs(Operation op, pb::NodeProto* node) {
  const uint32_t count = op.num_regions();
  if (count == 0) return absl::OkStatus();
  const Attribute stated = op.attr(kSubgraphs), names = op.attr(kSubgraphNames);
  const auto known = ir::ops::RegionNames(op.opcode());
  ir::Strings labels(known.begin(), known.end());
  if (labels.empty() && stated.Is(ir::AttrKind::kStrings)) labels = stated.AsStrings();
  if (labels.size() != count)
    return ir::Unsupported(
        fmt::format("{} regions but no attribute {} that names them", count, kSubgraphs));
  pb::AttributeProto* list = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    std::string label = labels[i];
    const bool in_list = label.ends_with("[]");
    if (in_list) label.resize(label.size() - 2);
    if (!in_list || !list || list->name() != label) list = node->add_attribute();
    list->set_name(label);
    list->set_type(in_list ? pb::AttributeProto::GRAPHS : pb::AttributeProto::GRAPH);
    pb::GraphProto* graph = in_list ? list->add_graphs() : list->mutable_g();
    const bool has_name = names.Is(ir::AttrKind::kStrings) && i < names.AsStrings().size() &&
                          !names.AsStrings()[i].empty();
    graph->set_name(has_name ? names.AsStrings()[i] : label);
    WEFT_RETURN_IF_ERROR(WriteSubgraph(op.region(i), graph));
  }
  return absl::OkStatus();
}

void GraphWriter::WriteOperands(Operation op, pb::NodeProto* node) {
  const ir::OpDef* def = op.def();
  const bool is_call = def && def->info->onnx.empty();
  uint32_t count = op.num_operands();
  while (count > 0 && !op.operand(count - 1)) --count;
  for (uint32_t i = 0; i < count; ++i) {
    if (op.operand(i)) {
      node->add_input(names_.Get(op.operand(i)));
    } else if (!is_call) {  // a function has inputs for the operands that are given only
      node->add_input("");
    }
  }
}

void GraphWriter::WriteResults(Operation op, pb::GraphProto* graph, pb::NodeProto* node) {
  uint32_t named = 0;  // results that get names
  for (Value result : op.results())
    named += !result.IsUnused() || !result.name().empty() || names_.Has(result);
  const std::vector<ir::Type> inferred = InferredTypes(op);
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Value result = op.result(i);
    if (names_.Has(result)) {  // an output of the graph, named beforehand
      node->add_output(names_.Get(result));
      continue;
    }
    const bool leave_out = named > 0 && result.IsUnused() && result.name().empty();
    if (leave_out && IsOptionalResult(op, i)) {
      node->add_output("");
      continue;
    }
    node->add_output(names_.Assign(result, result.name()));
    if (constants_ == Constants::kInitializers && MustState(result, inferred[i]))
      AddValueInfo(names_.Get(result), result.type(), graph->mutable_value_info());
  }
  while (node->output_size() > 0 && node->output(node->output_size() - 1).empty())
    node->mutable_output()->RemoveLast();
}

// Whether a graph says what type the value has. Sizes that are not numbers are left to inference where
// it finds them: ONNX Runtime 1.30 is up to 10 % slower on graphs that state them
// (benchmarks/peers/simplify/against_ort.js --speed).
bool GraphWriter::MustState(Value value, ir::Type inferred) const {
  const bool has_note = value_notes_ != nullptr && value_notes_->Has(names_.Get(value));
  return value.type().IsStatic() || inferred != value.type() || has_note;
}

// A constant of the graph that no value of the program stands for.
std::string GraphWriter::AddInts(const ir::Ints& ints, ir::IrContext& context,
                                 pb::GraphProto* graph) {
  const auto size = static_cast<int64_t>(ints.size());
  const Attribute dense = context.DenseAttr(
      context.TensorType(ir::DataType::kI64, {&size, 1}),
      {reinterpret_cast<const std::byte*>(ints.data()), ints.size() * sizeof(int64_t)});
  std::string name = names_.Fresh("");
  if (constants_ == Constants::kInitializers) {
    *graph->add_initializer() = TensorToProto(dense, name);
    return name;
  }
  pb::NodeProto* node = graph->add_node();
  node->set_op_type("Constant");
  node->add_output(name);
  WEFT_CHECK(AttributeToProto("value", dense, node->add_attribute()).ok(), "a list has no form");
  return name;
}

// A node that computes what no value of the program stands for.
std::string GraphWriter::AddNode(pb::NodeProto node, pb::GraphProto* graph) {
  std::string name = names_.Fresh("");
  node.add_output(name);
  *graph->add_node() = std::move(node);
  return name;
}

absl::Status GraphWriter::WriteNode(Operation op, pb::GraphProto* graph) {
  pb::NodeProto node;
  WEFT_RETURN_IF_ERROR(SetOperator(op, &node));
  if (const std::string name = NodeNameOf(op); !name.empty())
    node.set_name(node_names_.Fresh(name));
  WriteOperands(op, &node);
  WEFT_RETURN_IF_ERROR(WriteAttributes(op, &node));
  if (node_notes_) node_notes_->AddTo(op, &node);
  WriteOrigin(op, &node);
  WEFT_RETURN_IF_ERROR(WriteSubgraphs(op, &node));
  WriteResults(op, graph, &node);
  if (node.domain().empty()) {
    if (const std::string wrong = WrongElementType(op, target_); !wrong.empty())
      return ir::Unsupported(wrong);
    const Additions add = {
        .ints = [&](const ir::Ints& ints) { return AddInts(ints, *op.context(), graph); },
        .node = [&](pb::NodeProto added) { return AddNode(std::move(added), graph); }};
    WEFT_RETURN_IF_ERROR(LowerNode(op, target_, add, &node));
  }
  *graph->add_node() = std::move(node);
  return absl::OkStatus();
}

absl::Status GraphWriter::WriteOp(Operation op, pb::GraphProto* graph, bool top) {
  if (op.Is<ir::ReturnOp>()) return absl::OkStatus();
  if (op.Is<ir::ConstantOp>() || op.Is<ir::GetParameterOp>())
    return Annotated(WriteConstant(op, graph, top), op);
  return Annotated(WriteNode(op, graph), op);
}

absl::Status GraphWriter::WriteOps(Block block, pb::GraphProto* graph, bool top) {
  for (Operation op : block) WEFT_RETURN_IF_ERROR(WriteOp(op, graph, top));
  return absl::OkStatus();
}

// --- outputs ------------------------------------------------------------------------

// Whether a node of `block` computes it: only then may it be an output as it is.
bool GraphWriter::IsPlainResult(Value value, Block block) const {
  return !value.IsBlockArgument() && value.ParentBlock() == block &&
         !value.DefiningOp().Is<ir::ConstantOp>() && !value.DefiningOp().Is<ir::GetParameterOp>();
}

// A copy of the value, where ONNX wants a node's own output.
absl::StatusOr<std::string> GraphWriter::Copy(Value value, std::string_view name,
                                              pb::GraphProto* graph) {
  WEFT_RETURN_IF_ERROR(CheckIdentity(value, target_));
  pb::NodeProto* copy = graph->add_node();
  copy->set_op_type("Identity");
  domains_.insert("");
  copy->add_input(names_.Get(value));
  copy->add_output(std::string(name));
  return copy->output(0);
}

absl::Status GraphWriter::Write(Block block, const ir::Strings& inputs, const ir::Strings& outputs,
                                pb::GraphProto* graph) {
  const Operation end = block.Terminator();
  if (!end) return ir::Unsupported("a program that does not end with builtin.return");
  if (inputs.size() != block.num_arguments() || outputs.size() != end.num_operands())
    return ir::InvalidArgument("the names of inputs and outputs do not fit their number");
  for (const ir::Strings* list : {&inputs, &outputs})
    for (const std::string& name : *list) {
      if (name.empty()) return ir::InvalidArgument("an input or output has no name");
      names_.Reserve(name);
    }
  ir::Walk(block.region(), [&](Operation op) {
    for (Value value : op.results()) names_.AddTaken(value.name());
  });
  std::set<std::string> input_names, output_names;
  for (uint32_t i = 0; i < block.num_arguments(); ++i) {
    if (!input_names.insert(inputs[i]).second)
      return ir::InvalidArgument(fmt::format("two inputs are named {}", inputs[i]));
    names_.Set(block.argument(i), inputs[i]);
    AddInterface(inputs[i], block.argument(i).type(), graph->add_input());
  }
  for (uint32_t i = 0; i < end.num_operands(); ++i) {
    const Value value = end.operand(i);
    if (!value) return ir::InvalidArgument("builtin.return gives nothing in the place of a value");
    const bool is_input = names_.Has(value) && names_.Get(value) == outputs[i];
    if (!output_names.insert(outputs[i]).second || (!is_input && input_names.count(outputs[i]) > 0))
      return ir::InvalidArgument(
          fmt::format("an output and another output or input are named {}", outputs[i]));
    if (IsPlainResult(value, block) && !names_.Has(value)) names_.Set(value, outputs[i]);
  }
  WEFT_RETURN_IF_ERROR(WriteOps(block, graph, true));
  for (uint32_t i = 0; i < end.num_operands(); ++i) {
    const Value value = end.operand(i);
    if (names_.Get(value) != outputs[i])
      WEFT_RETURN_IF_ERROR(Copy(value, outputs[i], graph).status());
    AddInterface(outputs[i], value.type(), graph->add_output());
  }
  return absl::OkStatus();
}

}  // namespace weft::onnx

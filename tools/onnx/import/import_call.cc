#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/builtin.h"
#include "tools/onnx/import/importer_impl.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/proto_attribute.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::Operation;
using ir::Rewriter;
using ir::Type;
using ir::Value;

std::string CallPrefix(const Frame& frame, const std::string& call) {
  if (call.size() + frame.prefix.size() > kMaxInlinedName) return frame.prefix;
  return frame.prefix + call + "/";
}

}  // namespace

absl::StatusOr<Attribute> Importer::ConstantContents(const BoundAttribute& attribute) {
  const pb::AttributeProto& proto = *attribute.value;
  const std::string& name = attribute.name;
  if (name == "sparse_value" && proto.has_sparse_tensor()) {
    WEFT_RETURN_IF_ERROR(AttributeTypeOf(proto).status());
    return tensors_.ReadSparse(proto.sparse_tensor());
  }
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

// The caller's names are the better ones, and its graph states types where functions have none; but
// a function may also return one of its inputs.
absl::StatusOr<std::vector<Value>> Importer::ResultsOfCall(const pb::NodeProto& node,
                                                           const pb::FunctionProto& function,
                                                           const Scope& body,
                                                           const std::vector<Value>& operands,
                                                           Rewriter& builder, const Scope& scope) {
  std::vector<Value> results;
  for (int i = 0; i < node.output_size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const Value value, Find(body, function.output(i)));
    results.push_back(value);
    if (!value || std::find(operands.begin(), operands.end(), value) != operands.end()) continue;
    program_->SetName(value, "");
    WEFT_ASSIGN_OR_RETURN(const Type type,
                          ResultType(node, static_cast<size_t>(i), value.type(), scope));
    builder.SetType(value, type);
  }
  return results;
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
    if (const Operation op = fused_.Recognise(proto, operands, builder)) {
      for (uint32_t i = 0; i < op.num_results(); ++i) {
        const Value result = op.result(i);
        WEFT_ASSIGN_OR_RETURN(const Type type, ResultType(node, i, result.type(), *scope));
        builder.SetType(result, type);
      }
      WEFT_RETURN_IF_ERROR(DefineResults(node, op.results().vec(), scope, frame));
      KeepNotes(node, op, *scope, frame);
      return absl::OkStatus();
    }
  }

  for (const pb::AttributeProto& fallback : proto.attribute_proto())
    if (std::none_of(attributes.begin(), attributes.end(),
                     [&](const BoundAttribute& a) { return a.name == fallback.name(); }))
      attributes.push_back({fallback.name(), &fallback});
  Frame inner{.function = &function,
              .opsets = &function.opsets,
              .attributes = std::move(attributes),
              .prefix = CallPrefix(frame, node.name().empty() ? proto.name() : node.name()),
              .depth = frame.depth + 1};
  WEFT_RETURN_IF_ERROR(CountNodes(static_cast<size_t>(proto.input_size())));
  Scope body{.nodes = &proto.node()};
  for (int i = 0; i < proto.input_size(); ++i)
    WEFT_RETURN_IF_ERROR(Define(&body, proto.input(i), operands[static_cast<size_t>(i)]));
  WEFT_RETURN_IF_ERROR(ImportNodes(proto.node(), builder, &body, inner));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results,
                        ResultsOfCall(node, proto, body, operands, builder, *scope));
  return DefineResults(node, results, scope, frame);
}

}  // namespace weft::onnx

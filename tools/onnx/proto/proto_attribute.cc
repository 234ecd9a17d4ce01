#include "tools/onnx/proto/proto_attribute.h"

#include <fmt/format.h>

#include <string>

#include "tools/onnx/proto/proto_type.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::AttrKind;
using pb::AttributeProto;
using AttributeType = AttributeProto::AttributeType;

constexpr std::string_view kVerbatimPrefix = "onnx(";

std::string_view KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kUnit:
      return "unit";
    case AttrKind::kBool:
      return "bool";
    case AttrKind::kInt:
      return "int";
    case AttrKind::kFloat:
      return "float";
    case AttrKind::kDouble:
      return "double";
    case AttrKind::kString:
      return "string";
    case AttrKind::kInts:
      return "ints";
    case AttrKind::kFloats:
      return "floats";
    case AttrKind::kStrings:
      return "strings";
    case AttrKind::kDataType:
      return "element type";
    case AttrKind::kType:
      return "type";
    case AttrKind::kDense:
      return "tensor";
    case AttrKind::kVerbatim:
      return "message";
  }
  return "value";
}

// Which of the value fields are in use, as bits numbered by AttributeType.
uint32_t FieldsInUse(const AttributeProto& p) {
  const auto bit = [](bool used, AttributeType type) { return used ? 1u << type : 0u; };
  return bit(p.has_f(), AttributeProto::FLOAT) | bit(p.has_i(), AttributeProto::INT) |
         bit(p.has_s(), AttributeProto::STRING) | bit(p.has_t(), AttributeProto::TENSOR) |
         bit(p.has_g(), AttributeProto::GRAPH) | bit(p.has_tp(), AttributeProto::TYPE_PROTO) |
         bit(p.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR) |
         bit(p.floats_size() > 0, AttributeProto::FLOATS) |
         bit(p.ints_size() > 0, AttributeProto::INTS) |
         bit(p.strings_size() > 0, AttributeProto::STRINGS) |
         bit(p.tensors_size() > 0, AttributeProto::TENSORS) |
         bit(p.graphs_size() > 0, AttributeProto::GRAPHS) |
         bit(p.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS) |
         bit(p.type_protos_size() > 0, AttributeProto::TYPE_PROTOS);
}

absl::StatusOr<ir::Attribute> Verbatim(ir::IrContext* context, const AttributeProto& proto,
                                       const TensorReader& tensors) {
  AttributeProto copy = proto;
  copy.clear_name();
  const auto restore_sparse = [&](pb::SparseTensorProto& sparse) -> absl::Status {
    WEFT_RETURN_IF_ERROR(tensors.RestorePayload(sparse.mutable_values()));
    return tensors.RestorePayload(sparse.mutable_indices());
  };
  for (auto& tensor : *copy.mutable_tensors())
    WEFT_RETURN_IF_ERROR(tensors.RestorePayload(&tensor));
  for (auto& sparse : *copy.mutable_sparse_tensors()) WEFT_RETURN_IF_ERROR(restore_sparse(sparse));
  if (copy.has_sparse_tensor()) WEFT_RETURN_IF_ERROR(restore_sparse(*copy.mutable_sparse_tensor()));
  return context->VerbatimAttr(
      fmt::format("{}{})", kVerbatimPrefix, HexEncode(copy.SerializeAsString())));
}

bool ParseVerbatim(std::string_view text, AttributeProto* proto) {
  std::string bytes;
  return text.starts_with(kVerbatimPrefix) && text.ends_with(")") &&
         HexDecode(text.substr(kVerbatimPrefix.size(), text.size() - kVerbatimPrefix.size() - 1),
                   &bytes) &&
         proto->ParseFromString(bytes);
}

// `value` as the kind of attribute that `field` holds, or null.
ir::Attribute FitToField(ir::IrContext* context, const ir::FieldDef& field, ir::Attribute value) {
  if (value.Is(AttrKind::kInt)) {
    const int64_t number = value.AsInt();
    if (field.kind == AttrKind::kBool && (number == 0 || number == 1))
      value = context->BoolAttr(number == 1);
    if (field.kind == AttrKind::kDataType && DataTypeFromOnnx(number).ok())
      value = context->DataTypeAttr(static_cast<ir::DataType>(number));
  }
  AttributeProto message;
  if (field.kind == AttrKind::kType && value.Is(AttrKind::kVerbatim) &&
      ParseVerbatim(value.AsString(), &message) && message.has_tp()) {
    const auto type = TypeFromProto(context, message.tp(), {});
    if (type.ok()) value = context->TypeAttr(*type);
  }
  return field.accepts(value) ? value : ir::Attribute();
}

std::string Misfit(const ir::FieldDef& field, ir::Attribute value) {
  if (!field.enumerators.empty() && value.Is(AttrKind::kString))
    return fmt::format("attribute {} is {}, expected one of {}", field.name.str(),
                       Quoted(value.AsString()), fmt::join(field.enumerators, ", "));
  if (value.Is(AttrKind::kInt))
    return fmt::format("attribute {} is {}, expected {}", field.name.str(), value.AsInt(),
                       KindName(field.kind));
  return fmt::format("attribute {} is of kind {}, expected {}", field.name.str(),
                     KindName(value.kind()), KindName(field.kind));
}

}  // namespace

bool IsGraphAttribute(const AttributeProto& proto) {
  return proto.has_g() || proto.graphs_size() > 0 || proto.type() == AttributeProto::GRAPH ||
         proto.type() == AttributeProto::GRAPHS;
}

absl::StatusOr<AttributeType> AttributeTypeOf(const AttributeProto& proto) {
  const uint32_t used = FieldsInUse(proto);
  if ((used & (used - 1)) != 0)
    return ir::InvalidArgument(
        fmt::format("attribute {} has more than one value", Quoted(proto.name())));
  if (proto.type() == AttributeProto::UNDEFINED) {
    if (used == 0)
      return ir::InvalidArgument(fmt::format("attribute {} has no value", Quoted(proto.name())));
    return static_cast<AttributeType>(__builtin_ctz(used));
  }
  // Nothing in use: a zero or an empty list from a writer that leaves those out.
  if (used != 0 && used != 1u << proto.type())
    return ir::InvalidArgument(fmt::format(
        "attribute {} is tagged as {} but holds {}", Quoted(proto.name()),
        AttributeProto::AttributeType_Name(proto.type()),
        AttributeProto::AttributeType_Name(static_cast<AttributeType>(__builtin_ctz(used)))));
  const bool may_be_unset =
      proto.type() != AttributeProto::TENSOR && proto.type() != AttributeProto::GRAPH &&
      proto.type() != AttributeProto::SPARSE_TENSOR && proto.type() != AttributeProto::TYPE_PROTO;
  if (used == 0 && !may_be_unset)
    return ir::InvalidArgument(fmt::format("attribute {} has no value", Quoted(proto.name())));
  return proto.type();
}

absl::StatusOr<ir::Attribute> AttributeFromProto(ir::IrContext* context,
                                                 const AttributeProto& proto,
                                                 TensorReader& tensors) {
  WEFT_ASSIGN_OR_RETURN(const AttributeType type, AttributeTypeOf(proto));
  switch (type) {
    case AttributeProto::FLOAT:
      return context->FloatAttr(proto.f());
    case AttributeProto::INT:
      return context->IntAttr(proto.i());
    case AttributeProto::STRING:
      return context->StringAttr(proto.s());
    case AttributeProto::TENSOR: {
      absl::StatusOr<ir::Attribute> tensor = tensors.Read(proto.t());
      if (!tensor.ok())
        return ir::Annotate(tensor.status(), fmt::format("attribute {}", Quoted(proto.name())));
      return tensor;
    }
    case AttributeProto::FLOATS:
      return context->FloatsAttr(ir::Floats(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::INTS:
      return context->IntsAttr(ir::Ints(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::STRINGS:
      return context->StringsAttr(ir::Strings(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS:
    case AttributeProto::UNDEFINED:
      return ir::InvalidArgument(
          fmt::format("attribute {} cannot be a graph here", Quoted(proto.name())));
    default:
      return Verbatim(context, proto, tensors);
  }
}

absl::Status AttributeToProto(std::string_view name, ir::Attribute value, AttributeProto* proto) {
  switch (value.kind()) {
    case AttrKind::kBool:
    case AttrKind::kInt:
    case AttrKind::kDataType:
      proto->set_type(AttributeProto::INT);
      proto->set_i(value.AsInt());
      break;
    case AttrKind::kFloat:
      proto->set_type(AttributeProto::FLOAT);
      proto->set_f(value.AsFloat());
      break;
    case AttrKind::kString:
      proto->set_type(AttributeProto::STRING);
      proto->set_s(value.AsString());
      break;
    case AttrKind::kInts:
      proto->set_type(AttributeProto::INTS);
      for (int64_t i : value.AsInts()) proto->add_ints(i);
      break;
    case AttrKind::kFloats:
      proto->set_type(AttributeProto::FLOATS);
      for (float f : value.AsFloats()) proto->add_floats(f);
      break;
    case AttrKind::kStrings:
      proto->set_type(AttributeProto::STRINGS);
      for (const std::string& s : value.AsStrings()) proto->add_strings(s);
      break;
    case AttrKind::kDense:
      if (value.IsElided())
        return ir::InvalidArgument(
            fmt::format("attribute {}: the contents of the tensor were left out", name));
      proto->set_type(AttributeProto::TENSOR);
      *proto->mutable_t() = TensorToProto(value, "");
      break;
    case AttrKind::kType:
      proto->set_type(AttributeProto::TYPE_PROTO);
      if (!TypeToProto(value.AsType(), proto->mutable_tp()))
        return ir::Unsupported(
            fmt::format("attribute {}: ONNX has no type {}", name, value.AsType().ToString()));
      break;
    case AttrKind::kVerbatim:
      if (!ParseVerbatim(value.AsString(), proto))
        return ir::Unsupported(
            fmt::format("attribute {}: ONNX has no value {}", name, Quoted(value.AsString())));
      break;
    case AttrKind::kUnit:
    case AttrKind::kDouble:
      return ir::Unsupported(fmt::format("attribute {}: ONNX has no attributes of kind {}", name,
                                         KindName(value.kind())));
  }
  proto->set_name(std::string(name));
  return absl::OkStatus();
}

absl::StatusOr<ir::AttrDict> FitToFields(ir::IrContext* context, const ir::OpDef& def,
                                         const std::vector<ir::NamedAttribute>& attributes) {
  std::vector<ir::NamedAttribute> entries;
  for (const ir::FieldDef& field : def.fields) {
    if (field.make_default) {
      entries.push_back({field.name, field.make_default(*context)});
      continue;
    }
    bool given = field.optional;
    for (const ir::NamedAttribute& a : attributes) given |= a.name == field.name;
    if (!given)
      return ir::InvalidArgument(
          fmt::format("attribute {} is required but not given", field.name.str()));
  }
  for (const ir::NamedAttribute& a : attributes) {
    const ir::FieldDef* field = def.FindField(a.name);
    if (!field)
      return ir::InvalidArgument(
          fmt::format("{} has no attribute {}", def.info->onnx, Quoted(a.name.str())));
    const ir::Attribute fitted = FitToField(context, *field, a.value);
    if (!fitted) return ir::InvalidArgument(Misfit(*field, a.value));
    entries.push_back({a.name, fitted});  // after the default, so that it wins
  }
  return context->Dict(std::move(entries));
}

}  // namespace weft::onnx

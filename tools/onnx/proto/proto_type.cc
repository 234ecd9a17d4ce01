#include "tools/onnx/proto/proto_type.h"

#include <fmt/format.h>

#include "ir/infer.h"
#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

constexpr std::string_view kOpaquePrefix = "onnx:";

absl::StatusOr<ir::Shape> ShapeFromProto(const pb::TensorShapeProto& proto) {
  ir::Shape dims;
  for (const auto& dim : proto.dim()) {
    if (dim.has_dim_value()) {
      if (dim.dim_value() < ir::kUnknownDim)  // -1 is what old exporters write for unknown
        return ir::InvalidArgument(fmt::format("has a dimension of size {}", dim.dim_value()));
      dims.push_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      if (!IsUtf8(dim.dim_param()))
        return ir::InvalidArgument(
            fmt::format("dimension {} is not UTF-8", Quoted(dim.dim_param())));
      dims.push_back(ir::SymbolicDim(dim.dim_param()));
    } else {
      dims.push_back(ir::kUnknownDim);
    }
  }
  return dims;
}

absl::StatusOr<ir::Type> TensorTypeFromProto(ir::IrContext* context,
                                             const pb::TypeProto::Tensor& proto,
                                             const ImportLimits& limits) {
  if (proto.elem_type() == 0) return context->UnrankedTensorType(ir::DataType::kNull);
  if (!proto.has_shape()) {
    WEFT_ASSIGN_OR_RETURN(const ir::DataType dtype, DataTypeFromOnnx(proto.elem_type()));
    return context->UnrankedTensorType(dtype);
  }
  WEFT_ASSIGN_OR_RETURN(const ir::Shape dims, ShapeFromProto(proto.shape()));
  ir::Shape known;  // what must not overflow
  for (int64_t d : dims) known.push_back(ir::IsStaticDim(d) ? d : 1);
  WEFT_RETURN_IF_ERROR(
      CheckedTensorType(context, proto.elem_type(), known, limits.max_rank).status());
  return context->TensorType(static_cast<ir::DataType>(proto.elem_type()), dims);
}

// Null for a type that is, or contains, what is no tensor, sequence or optional, or for a sequence or
// optional of which more is said than our types say.
absl::StatusOr<ir::Type> KnownType(ir::IrContext* context, const pb::TypeProto& proto,
                                   const ImportLimits& limits, int depth) {
  if (depth == ir::kMaxTypeDepth)
    return ir::InvalidArgument(
        fmt::format("types are nested more than {} deep", ir::kMaxTypeDepth));
  const bool is_wrapped = depth > 0 || proto.has_sequence_type() || proto.has_optional_type();
  if (is_wrapped && (proto.has_denotation() || !proto.unknown_fields().empty())) return ir::Type();
  switch (proto.value_case()) {
    case pb::TypeProto::VALUE_NOT_SET:
      return context->UnrankedTensorType(ir::DataType::kNull);
    case pb::TypeProto::kTensorType:
      return TensorTypeFromProto(context, proto.tensor_type(), limits);
    case pb::TypeProto::kSequenceType: {
      WEFT_ASSIGN_OR_RETURN(
          const ir::Type element,
          KnownType(context, proto.sequence_type().elem_type(), limits, depth + 1));
      return element ? context->SequenceType(element) : ir::Type();
    }
    case pb::TypeProto::kOptionalType: {
      WEFT_ASSIGN_OR_RETURN(
          const ir::Type element,
          KnownType(context, proto.optional_type().elem_type(), limits, depth + 1));
      return element ? context->OptionalType(element) : ir::Type();
    }
    default:
      return ir::Type();
  }
}

// Of tensors of one element type, wrapped alike: then only dims contradict each other.
bool SameElements(ir::Type a, ir::Type b) {
  if (a.HasElement() && a.kind() == b.kind()) return SameElements(a.element(), b.element());
  return a.IsTensor() && b.IsTensor() && a.dtype() == b.dtype();
}

}  // namespace

absl::StatusOr<ir::Type> TypeFromProto(ir::IrContext* context, const pb::TypeProto& proto,
                                       const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const ir::Type type, KnownType(context, proto, limits, 0));
  if (type) return type;
  return context->OpaqueType(std::string(kOpaquePrefix) + HexEncode(proto.SerializeAsString()));
}

bool TypeToProto(ir::Type type, pb::TypeProto* proto) {
  if (IsUnknown(type)) return false;
  if (type.kind() == ir::TypeKind::kOpaque) {
    std::string bytes;
    return type.text().starts_with(kOpaquePrefix) &&
           HexDecode(type.text().substr(kOpaquePrefix.size()), &bytes) &&
           proto->ParseFromString(bytes);
  }
  if (type.IsSequence())
    return TypeToProto(type.element(), proto->mutable_sequence_type()->mutable_elem_type());
  if (type.IsOptional())
    return TypeToProto(type.element(), proto->mutable_optional_type()->mutable_elem_type());
  if (!type.IsTensor()) return false;
  auto* tensor = proto->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type.dtype()));
  if (!type.HasRank()) return true;
  auto* shape = tensor->mutable_shape();
  for (int64_t d : type.dims()) {
    auto* dim = shape->add_dim();
    if (ir::IsStaticDim(d)) {
      dim->set_dim_value(d);
    } else if (ir::IsSymbolicDim(d)) {
      dim->set_dim_param(std::string(ir::SymbolName(d)));
    }
  }
  return true;
}

absl::StatusOr<ir::Type> MergeTypes(ir::IrContext* context, ir::Type inferred, ir::Type stated) {
  if (IsUnknown(stated))
    return inferred ? inferred : context->UnrankedTensorType(ir::DataType::kNull);
  if (IsUnknown(inferred)) return stated;
  if (ir::Compatible(stated, inferred)) return ir::Merge(context, inferred, stated);
  if (SameElements(inferred, stated)) return inferred;
  return ir::InvalidArgument(
      fmt::format("is stated as {} but computed as {}", stated.ToString(), inferred.ToString()));
}

}  // namespace weft::onnx

// TypeProto <-> types: tensors, sequences and optionals. Maps, sparse tensors and what contains them
// become opaque types that hold the serialised TypeProto, so that they are written back unchanged.
#pragma once

#include "ir/base/status.h"
#include "ir/context.h"
#include "tools/onnx/limits.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

// A type without element type is a tensor of which nothing is known.
absl::StatusOr<ir::Type> TypeFromProto(ir::IrContext* context, const pb::TypeProto& proto,
                                       const ImportLimits& limits);

// False when so little is known that ONNX cannot say it.
bool TypeToProto(ir::Type type, pb::TypeProto* proto);

inline bool IsUnknown(ir::Type type) {
  return !type || (type.IsTensor() && type.dtype() == ir::DataType::kNull);
}

// Of a sequence or optional the type that it is of in the end, else the type itself.
inline ir::Type Innermost(ir::Type type) {
  while (type && type.HasElement()) type = type.element();
  return type;
}

// What two statements about one value say together; on a contradiction in the dims, of an element too,
// `inferred` wins, since ONNX's shape annotations are hints. Element types that differ are an error.
absl::StatusOr<ir::Type> MergeTypes(ir::IrContext* context, ir::Type inferred, ir::Type stated);

}  // namespace weft::onnx

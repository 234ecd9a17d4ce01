// AttributeProto <-> attributes. First an ONNX attribute becomes the attribute its own type says;
// a second step fits it to the field of an op definition (an int becomes a bool or an element
// type, a string one of the enumerators).
#pragma once

#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/context.h"
#include "ir/op_def.h"
#include "tools/onnx/proto/proto.h"
#include "tools/onnx/proto/proto_tensor.h"

namespace weft::onnx {

bool IsGraphAttribute(const pb::AttributeProto& proto);

// Checks that the type tag and the field in use agree; returns the type (inferred for the files of
// old writers that leave the tag out).
absl::StatusOr<pb::AttributeProto::AttributeType> AttributeTypeOf(const pb::AttributeProto& proto);

// Not for graphs. Kinds we have no attribute for are kept as the serialised message, verbatim.
absl::StatusOr<ir::Attribute> AttributeFromProto(ir::IrContext* context,
                                                 const pb::AttributeProto& proto,
                                                 TensorReader& tensors);

// Unsupported for what ONNX cannot say.
absl::Status AttributeToProto(std::string_view name, ir::Attribute value,
                              pb::AttributeProto* proto);

// The dictionary of a defined op: unknown names and values of the wrong kind are errors, defaults
// are written out, and a required attribute must be there.
absl::StatusOr<ir::AttrDict> FitToFields(ir::IrContext* context, const ir::OpDef& def,
                                         const std::vector<ir::NamedAttribute>& attributes);

}  // namespace weft::onnx

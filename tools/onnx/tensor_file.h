// Single values in files: ONNX's TensorProto, SequenceProto and OptionalProto (.pb, as its test data has
// them) and NumPy's .npy. A file does not say which of these it is: a type must.
//
//   WEFT_ASSIGN_OR_RETURN(ir::Attribute x, ReadTensorFile(context, "input_0.pb"));
//   WEFT_RETURN_IF_ERROR(WriteTensorFile("output_0.pb", x, "y"));
//
// All are untrusted: sizes are checked before memory is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/context.h"
#include "tools/onnx/limits.h"

namespace weft::onnx {

// A dense attribute. Files ending in .npy are NumPy's, all others TensorProto. Unimplemented for
// big-endian or column-major arrays, and for tensors with external data or in segments.
absl::StatusOr<ir::Attribute> ReadTensorFile(ir::IrContext& context, const std::string& path,
                                             const ImportLimits& limits = {});

// Writes a TensorProto to a new file and renames it to `path`.
absl::Status WriteTensorFile(const std::string& path, ir::Attribute dense, std::string_view name);

// A tensor, a sequence of tensors, or an optional that is one or the other or nothing.
struct StoredValue {
  enum class Kind { kNothing, kTensor, kSequence };
  Kind kind = Kind::kNothing;
  std::vector<ir::Attribute> tensors{};  // dense
};

// What a file holds where a value of type `type` is expected. InvalidArgument for a file of another message, as far as
// it shows: an empty sequence reads as an optional of nothing. Unimplemented for elements that are no tensors.
absl::StatusOr<StoredValue> ReadValueFile(ir::IrContext& context, const std::string& path,
                                          ir::Type type, const ImportLimits& limits = {});
// As ReadValueFile reads it for that type.
absl::Status WriteValueFile(const std::string& path, const StoredValue& value, ir::Type type,
                            std::string_view name);

}  // namespace weft::onnx

// TensorProto <-> dense attributes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/status.h"
#include "ir/context.h"
#include "tools/onnx/limits.h"
#include "tools/onnx/proto/proto.h"
#include "tools/onnx/wire/mapped_file.h"

namespace weft::onnx {

// Reads tensors of a model whose payloads were cut out (see wire.h). Contents are checked against
// the dims before memory is taken. Large contents in a mapped file are not copied: the attribute
// points into the map, at whatever address they have there, and they are read from the file, which
// stays open, when somebody wants them. Of more files than may stay open, misaligned contents are
// copied, and the pages they came from given back.
class TensorReader {
 public:
  // `payloads` lie in *file, or in memory that is the caller's when file is null (then all are
  // copied). `directory`: where external data may lie; empty refuses it.
  TensorReader(ir::IrContext* context, std::span<const std::span<const std::byte>> payloads,
               MappedFile* file, std::string directory, const ImportLimits& limits)
      : context_(context),
        payloads_(payloads),
        file_(file),
        directory_(std::move(directory)),
        limits_(limits) {}

  // Remembers the result: a tensor in the body of a function is read once, not once per call.
  // `tensor` must outlive the reader.
  absl::StatusOr<ir::Attribute> Read(const pb::TensorProto& tensor);

  // The same for a sparse tensor, as a dense one.
  absl::StatusOr<ir::Attribute> ReadSparse(const pb::SparseTensorProto& sparse);

  // Puts the payload that was cut out back in, for a tensor that is kept as a message.
  absl::Status RestorePayload(pb::TensorProto* tensor, size_t max_bytes = size_t{1} << 30) const;

  // The attribute for contents that lie in `file` (null: in the caller's memory), once their size
  // is checked.
  absl::StatusOr<ir::Attribute> FromRaw(ir::Type type, std::span<const std::byte> bytes,
                                        MappedFile* file);

 private:
  ir::Attribute Adopt(ir::Type type, std::span<const std::byte> bytes, MappedFile* file);
  ir::Attribute Keep(ir::Type type, ir::WeightBuffer buffer);
  ir::Attribute AdoptUnpacked(ir::Type type, std::span<const std::byte> packed);
  absl::StatusOr<ir::Attribute> ReadNew(const pb::TensorProto& tensor);
  absl::StatusOr<ir::Attribute> ReadNewSparse(const pb::SparseTensorProto& sparse);
  absl::StatusOr<ir::Attribute> ReadTyped(const pb::TensorProto& tensor, ir::Type type);
  absl::StatusOr<ir::Attribute> ReadTypedPacked(const pb::TensorProto& tensor, ir::Type type);
  absl::StatusOr<ir::Attribute> ReadStrings(const pb::TensorProto& tensor, ir::Type type);
  absl::StatusOr<ir::Attribute> ReadExternal(const pb::TensorProto& tensor, ir::Type type);

  ir::IrContext* context_;
  std::span<const std::span<const std::byte>> payloads_;
  MappedFile* file_;
  std::string directory_;
  ImportLimits limits_;
  std::map<std::string, MappedFile> external_;
  std::unordered_map<const void*, ir::Attribute> known_;  // by the message of the tensor
  size_t sparse_bytes_ = 0;                               // of sparse tensors, as dense ones
};

// The type for untrusted dims: rank within the limit, no negative dim, a byte size that fits.
absl::StatusOr<ir::Type> CheckedTensorType(ir::IrContext* context, int64_t data_type,
                                           std::span<const int64_t> dims, int max_rank);

// ONNX's number of an element type as ours; Unsupported for the ones we do not have.
absl::StatusOr<ir::DataType> DataTypeFromOnnx(int64_t data_type);

// Everything but raw_data: dims, type, name, and the strings of a string tensor.
pb::TensorProto TensorHeader(ir::Attribute dense, std::string_view name);
// The whole tensor, contents copied: for small ones.
pb::TensorProto TensorToProto(ir::Attribute dense, std::string_view name);

}  // namespace weft::onnx

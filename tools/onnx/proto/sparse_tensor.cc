// SparseTensorProto: read as a dense one, zero wherever it states no value.
#include <fmt/format.h>

#include <cstring>

#include "tools/onnx/proto/proto_tensor.h"

namespace weft::onnx {
namespace {

using ir::DataType;

// Where an element lies in the dense tensor, by its axes' indices; -1: outside.
int64_t LinearIndex(std::span<const int64_t> dims, std::span<const int64_t> indices) {
  int64_t linear = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (indices[axis] < 0 || indices[axis] >= dims[axis]) return -1;
    linear = linear * dims[axis] + indices[axis];
  }
  return linear;
}

// The form of the indices, [N] of the flattened tensor or [N, rank], for N values.
absl::Status CheckIndices(ir::Type indices, int64_t num_values, size_t rank) {
  if (indices.dtype() != DataType::kI64)
    return ir::InvalidArgument(
        fmt::format("sparse: its indices are {}, expected i64", ir::DataTypeName(indices.dtype())));
  const auto dims = indices.dims();
  if ((dims.size() == 1 || (dims.size() == 2 && dims[1] == static_cast<int64_t>(rank))) &&
      dims[0] == num_values)
    return absl::OkStatus();
  return ir::InvalidArgument(
      fmt::format("sparse: indices of {} values in {} dimensions have the shape [{}]", num_values,
                  rank, fmt::join(dims, ",")));
}

// Indices ascend, so that none is there twice.
absl::Status Scatter(ir::Attribute values, ir::Attribute indices, std::span<const int64_t> dims,
                     std::byte* dense) {
  const ir::DenseElements<int64_t> at = indices.elements<int64_t>();
  const std::span<const std::byte> from = values.bytes();
  const bool by_axis = indices.dense_type().dims().size() == 2;
  int64_t flat = 1, last = -1;
  for (const int64_t dim : dims) flat *= dim;
  const std::span<const int64_t> axes = by_axis ? dims : std::span<const int64_t>(&flat, 1);
  const size_t size = ir::ElementSize(values.dense_type().dtype());
  std::vector<int64_t> index(axes.size());
  for (size_t i = 0; i * size < from.size(); ++i) {
    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] = at[i * index.size() + axis];
    const int64_t linear = LinearIndex(axes, index);
    if (linear <= last)
      return ir::InvalidArgument(
          fmt::format("sparse: index [{}] is {}", fmt::join(index, ","),
                      linear < 0 ? "outside of the tensor" : "not after the one before it"));
    last = linear;
    std::memcpy(dense + static_cast<size_t>(linear) * size, from.data() + i * size, size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ir::Attribute> TensorReader::ReadSparse(const pb::SparseTensorProto& sparse) {
  if (const auto it = known_.find(&sparse); it != known_.end()) return it->second;
  absl::StatusOr<ir::Attribute> dense = ReadNewSparse(sparse);
  if (dense.ok()) known_.emplace(&sparse, *dense);
  return dense;
}

absl::StatusOr<ir::Attribute> TensorReader::ReadNewSparse(const pb::SparseTensorProto& sparse) {
  const std::span<const int64_t> dims(sparse.dims().data(),
                                      static_cast<size_t>(sparse.dims_size()));
  WEFT_ASSIGN_OR_RETURN(
      const ir::Type type,
      CheckedTensorType(context_, sparse.values().data_type(), dims, limits_.max_rank));
  if (type.dtype() == DataType::kString || type.dtype() == DataType::kF8E8M0)
    return ir::Unsupported(
        fmt::format("a sparse tensor of {}, which has no zero", ir::DataTypeName(type.dtype())));
  const absl::StatusOr<ir::Attribute> read = Read(sparse.values()), at = Read(sparse.indices());
  if (!read.ok()) return ir::Annotate(read.status(), "sparse: its values");
  if (!at.ok()) return ir::Annotate(at.status(), "sparse: its indices");
  const ir::Attribute values = *read, indices = *at;
  if (values.dense_type().dims().size() != 1)
    return ir::InvalidArgument("sparse: its values are no list");
  WEFT_RETURN_IF_ERROR(
      CheckIndices(indices.dense_type(), values.dense_type().NumElements(), dims.size()));
  const auto size = static_cast<size_t>(type.NumBytes());
  if (size > limits_.max_sparse_bytes - sparse_bytes_)
    return ir::InvalidArgument(fmt::format("sparse: more than {} bytes, all such tensors together",
                                           limits_.max_sparse_bytes));
  sparse_bytes_ += size;
  std::byte* dense = nullptr;
  ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(size, &dense);
  std::memset(dense, 0, size);
  absl::Status status = Scatter(values, indices, dims, dense);
  if (status.ok()) return Keep(type, std::move(buffer));
  buffer.release();
  return status;
}

}  // namespace weft::onnx

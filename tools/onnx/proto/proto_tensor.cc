#include "tools/onnx/proto/proto_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "ir/base/large_memory.h"
#include "tools/onnx/proto/packed.h"
#include "tools/onnx/wire/text.h"
#include "tools/onnx/wire/wire.h"

namespace weft::onnx {
namespace {

using Bytes = std::span<const std::byte>;
using ir::DataType;

constexpr size_t kUniquedSize = 4096;           // the context shares small contents by value
constexpr size_t kCopyChunk = size_t{4} << 20;  // pages resident twice while copying
constexpr size_t kMaxOpenFiles = 64;            // of external data

// The alignment that reading elements through a typed pointer needs.
size_t AlignmentOf(DataType dtype) {
  switch (dtype) {
    case DataType::kC64:
      return 4;
    case DataType::kC128:
      return 8;
    default:
      return std::max<size_t>(ir::ElementSize(dtype), 1);
  }
}

int NumDataFields(const pb::TensorProto& t) {
  return (t.has_raw_data() ? 1 : 0) + (t.float_data_size() > 0) + (t.int32_data_size() > 0) +
         (t.string_data_size() > 0) + (t.int64_data_size() > 0) + (t.double_data_size() > 0) +
         (t.uint64_data_size() > 0);
}

// Copies a repeated field of F as elements of T; false when a value does not fit into T.
template <class T, class List>
bool CopyElements(const List& list, std::byte* out) {
  for (const auto value : list) {
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(value)) return false;
    }
    const T element = static_cast<T>(value);
    std::memcpy(out, &element, sizeof(T));
    out += sizeof(T);
  }
  return true;
}

// How many elements the typed field for `dtype` holds; -1 for half a complex number.
int64_t TypedCount(const pb::TensorProto& t, DataType dtype) {
  switch (dtype) {
    case DataType::kF32:
      return t.float_data_size();
    case DataType::kC64:
      return t.float_data_size() % 2 == 0 ? t.float_data_size() / 2 : -1;
    case DataType::kF64:
      return t.double_data_size();
    case DataType::kC128:
      return t.double_data_size() % 2 == 0 ? t.double_data_size() / 2 : -1;
    case DataType::kI64:
      return t.int64_data_size();
    case DataType::kU32:
    case DataType::kU64:
      return t.uint64_data_size();
    default:
      return t.int32_data_size();
  }
}

bool CopyTyped(const pb::TensorProto& t, DataType dtype, std::byte* out) {
  switch (dtype) {
    case DataType::kF32:
    case DataType::kC64:
      return CopyElements<float>(t.float_data(), out);
    case DataType::kF64:
    case DataType::kC128:
      return CopyElements<double>(t.double_data(), out);
    case DataType::kI64:
      return CopyElements<int64_t>(t.int64_data(), out);
    case DataType::kU32:
      return CopyElements<uint32_t>(t.uint64_data(), out);
    case DataType::kU64:
      return CopyElements<uint64_t>(t.uint64_data(), out);
    case DataType::kI32:
      return CopyElements<int32_t>(t.int32_data(), out);
    case DataType::kI16:
      return CopyElements<int16_t>(t.int32_data(), out);
    case DataType::kI8:
      return CopyElements<int8_t>(t.int32_data(), out);
    case DataType::kU16:
    case DataType::kF16:
    case DataType::kBF16:
      return CopyElements<uint16_t>(t.int32_data(), out);
    case DataType::kU8:
    case DataType::kBool:
      return CopyElements<uint8_t>(t.int32_data(), out);
    default:
      return ir::IsLowPrecision(dtype) && CopyElements<uint8_t>(t.int32_data(), out);
  }
}

absl::Status CheckBools(Bytes bytes) {
  for (std::byte b : bytes)
    if (b > std::byte{1})
      return ir::InvalidArgument(fmt::format("a bool is {}, expected 0 or 1", static_cast<int>(b)));
  return absl::OkStatus();
}

absl::Status CheckSize(size_t actual, size_t expected) {
  if (actual == expected) return absl::OkStatus();
  return ir::InvalidArgument(fmt::format("holds {} bytes but its type needs {}", actual, expected));
}

struct ExternalRange {
  std::string location;
  size_t offset = 0;
  std::optional<size_t> length;
};

absl::StatusOr<ExternalRange> ReadExternalRange(const pb::TensorProto& tensor) {
  ExternalRange range;
  for (const auto& entry : tensor.external_data()) {
    size_t number = 0;
    if (entry.key() == "location") {
      range.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!ParseSize(entry.value(), &number))
        return ir::InvalidArgument(fmt::format("external data {} is {}, expected a number",
                                               entry.key(), Quoted(entry.value())));
      if (entry.key() == "offset") {
        range.offset = number;
      } else {
        range.length = number;
      }
    }
  }
  return range;
}

}  // namespace

absl::StatusOr<DataType> DataTypeFromOnnx(int64_t data_type) {
  if (data_type >= 1 && data_type <= static_cast<int64_t>(DataType::kI2))
    return static_cast<DataType>(data_type);
  if (data_type > static_cast<int64_t>(DataType::kI2) && data_type <= 64)
    return ir::Unsupported(fmt::format("element type {} of ONNX", data_type));
  return ir::InvalidArgument(fmt::format("element type {} does not exist", data_type));
}

absl::StatusOr<ir::Type> CheckedTensorType(ir::IrContext* context, int64_t data_type,
                                           std::span<const int64_t> dims, int max_rank) {
  WEFT_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromOnnx(data_type));
  if (dims.size() > static_cast<size_t>(max_rank))
    return ir::InvalidArgument(
        fmt::format("has rank {}, more than the limit of {}", dims.size(), max_rank));
  // The product is checked with zeros counted as ones, so that no order of dims overflows.
  int64_t size = std::max<int64_t>(1, static_cast<int64_t>(ir::ElementSize(dtype)));
  for (int64_t d : dims) {
    if (d < 0) return ir::InvalidArgument(fmt::format("has a dimension of size {}", d));
    if (__builtin_mul_overflow(size, std::max<int64_t>(d, 1), &size))
      return ir::InvalidArgument("has more than 2^63 bytes");
  }
  return context->TensorType(dtype, dims);
}

ir::Attribute TensorReader::Adopt(ir::Type type, Bytes bytes, MappedFile* file) {
  if (bytes.size() <= kUniquedSize) return context_->DenseAttr(type, bytes);
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (file && (file->is_open() || address % AlignmentOf(type.dtype()) == 0)) {
    if (file->owned()) context_->AddWeightBuffer(file->HandOn());
    return context_->DenseAttrView(type, bytes);
  }
  std::byte* out = nullptr;
  ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(bytes.size(), &out);
  for (size_t at = 0; at < bytes.size(); at += kCopyChunk) {
    const Bytes chunk = bytes.subspan(at, std::min(kCopyChunk, bytes.size() - at));
    std::memcpy(out + at, chunk.data(), chunk.size());
    if (file) ir::DropFilePages(chunk);
  }
  return context_->DenseAttrAdopt(type, std::move(buffer));
}

ir::Attribute TensorReader::Keep(ir::Type type, ir::WeightBuffer buffer) {
  if (buffer.size > kUniquedSize) return context_->DenseAttrAdopt(type, std::move(buffer));
  const ir::Attribute dense = context_->DenseAttr(type, {buffer.data, buffer.size});
  buffer.release();
  return dense;
}

ir::Attribute TensorReader::AdoptUnpacked(ir::Type type, Bytes packed) {
  std::byte* out = nullptr;
  const auto size = static_cast<size_t>(type.NumBytes());
  ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(size, &out);
  Unpack(type.dtype(), packed, {out, size});
  return Keep(type, std::move(buffer));
}

absl::StatusOr<ir::Attribute> TensorReader::FromRaw(ir::Type type, Bytes bytes, MappedFile* file) {
  WEFT_RETURN_IF_ERROR(CheckSize(bytes.size(), StoredBytes(type)));
  if (IsPacked(type.dtype())) return AdoptUnpacked(type, bytes);
  if (type.dtype() == DataType::kBool) WEFT_RETURN_IF_ERROR(CheckBools(bytes));
  return Adopt(type, bytes, file);
}

absl::StatusOr<ir::Attribute> TensorReader::ReadTyped(const pb::TensorProto& tensor,
                                                      ir::Type type) {
  if (IsPacked(type.dtype())) return ReadTypedPacked(tensor, type);
  const int64_t count = TypedCount(tensor, type.dtype());
  if (count != type.NumElements())
    return ir::InvalidArgument(fmt::format("holds {} elements of {} but its type needs {}", count,
                                           ir::DataTypeName(type.dtype()), type.NumElements()));
  const auto size = static_cast<size_t>(type.NumBytes());
  std::byte* out = nullptr;
  ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(size, &out);
  const bool fits = CopyTyped(tensor, type.dtype(), out);
  absl::Status status = fits ? absl::OkStatus()
                             : ir::InvalidArgument(fmt::format("holds a value that is no {}",
                                                               ir::DataTypeName(type.dtype())));
  if (status.ok() && type.dtype() == DataType::kBool) status = CheckBools({buffer.data, size});
  if (status.ok()) return Keep(type, std::move(buffer));
  buffer.release();
  return status;
}

// Each entry of int32_data is a byte of packed elements.
absl::StatusOr<ir::Attribute> TensorReader::ReadTypedPacked(const pb::TensorProto& tensor,
                                                            ir::Type type) {
  std::vector<std::byte> packed(static_cast<size_t>(tensor.int32_data_size()));
  WEFT_RETURN_IF_ERROR(CheckSize(packed.size(), StoredBytes(type)));
  if (!CopyTyped(tensor, type.dtype(), packed.data()))
    return ir::InvalidArgument(
        fmt::format("holds a value that is no byte of {}", ir::DataTypeName(type.dtype())));
  return AdoptUnpacked(type, packed);
}

absl::StatusOr<ir::Attribute> TensorReader::ReadStrings(const pb::TensorProto& tensor,
                                                        ir::Type type) {
  if (tensor.has_raw_data()) return ir::InvalidArgument("a string tensor has raw_data");
  if (tensor.string_data_size() != type.NumElements())
    return ir::InvalidArgument(fmt::format("holds {} strings but its type needs {}",
                                           tensor.string_data_size(), type.NumElements()));
  const ir::Strings strings(tensor.string_data().begin(), tensor.string_data().end());
  return context_->DenseStringsAttr(type, strings);
}

absl::StatusOr<ir::Attribute> TensorReader::ReadExternal(const pb::TensorProto& tensor,
                                                         ir::Type type) {
  WEFT_ASSIGN_OR_RETURN(const ExternalRange range, ReadExternalRange(tensor));
  if (type.dtype() == DataType::kString)
    return ir::InvalidArgument("a string tensor has external data");
  if (NumDataFields(tensor) > 0) return ir::InvalidArgument("has both external and own data");
  if (directory_.empty())
    return file_ ? ir::Unsupported("external data of a tensor outside of a model")
                 : ir::InvalidArgument("has external data but the model comes from memory");
  auto it = external_.find(range.location);
  if (it == external_.end()) {
    if (external_.size() >= limits_.max_external_files)
      return ir::InvalidArgument(
          fmt::format("more than {} external files", limits_.max_external_files));
    WEFT_ASSIGN_OR_RETURN(MappedFile file,
                          MappedFile::OpenBelow(directory_, range.location, limits_.max_file_bytes,
                                                limits_.allow_hard_links));
    if (external_.size() >= kMaxOpenFiles) file.CloseFile();
    it = external_.emplace(range.location, std::move(file)).first;
  }
  const Bytes all = it->second.bytes();
  const size_t size = StoredBytes(type);
  WEFT_RETURN_IF_ERROR(CheckSize(range.length.value_or(size), size));
  if (range.offset > all.size() || size > all.size() - range.offset)
    return ir::InvalidArgument(fmt::format("external data {} to {} of {}, which has {} bytes",
                                           range.offset, range.offset + size,
                                           Quoted(range.location), all.size()));
  return FromRaw(type, all.subspan(range.offset, size), &it->second);
}

absl::StatusOr<ir::Attribute> TensorReader::Read(const pb::TensorProto& tensor) {
  if (const auto it = known_.find(&tensor); it != known_.end()) return it->second;
  absl::StatusOr<ir::Attribute> dense = ReadNew(tensor);
  if (dense.ok()) known_.emplace(&tensor, *dense);
  return dense;
}

absl::StatusOr<ir::Attribute> TensorReader::ReadNew(const pb::TensorProto& tensor) {
  if (tensor.has_segment()) return ir::Unsupported("a tensor in segments");
  const std::span<const int64_t> dims(tensor.dims().data(),
                                      static_cast<size_t>(tensor.dims_size()));
  WEFT_ASSIGN_OR_RETURN(const ir::Type type,
                        CheckedTensorType(context_, tensor.data_type(), dims, limits_.max_rank));
  if (tensor.data_location() == pb::TensorProto::EXTERNAL) return ReadExternal(tensor, type);
  if (NumDataFields(tensor) > 1) return ir::InvalidArgument("has its data in more than one field");
  if (type.dtype() == DataType::kString) return ReadStrings(tensor, type);
  if (!tensor.has_raw_data()) return ReadTyped(tensor, type);
  size_t index = 0;
  if (!ReadPayloadIndex(tensor.raw_data(), &index) || index >= payloads_.size())
    return ir::Internal("a payload was not cut out");
  return FromRaw(type, payloads_[index], file_);
}

absl::Status TensorReader::RestorePayload(pb::TensorProto* tensor, size_t max_bytes) const {
  if (tensor->data_location() == pb::TensorProto::EXTERNAL)
    return ir::Unsupported("external data in a list of tensors or a sparse tensor");
  if (!tensor->has_raw_data()) return absl::OkStatus();
  size_t index = 0;
  if (!ReadPayloadIndex(tensor->raw_data(), &index) || index >= payloads_.size())
    return ir::Internal("a payload was not cut out");
  if (payloads_[index].size() > max_bytes)
    return ir::Unsupported(fmt::format("a tensor of more than {} bytes here", max_bytes));
  tensor->set_raw_data(payloads_[index].data(), payloads_[index].size());
  return absl::OkStatus();
}

pb::TensorProto TensorHeader(ir::Attribute dense, std::string_view name) {
  pb::TensorProto tensor;
  for (int64_t d : dense.dense_type().dims()) tensor.add_dims(d);
  tensor.set_data_type(static_cast<int32_t>(dense.dense_type().dtype()));
  if (!name.empty()) tensor.set_name(std::string(name));
  for (const std::string& s : dense.dense_strings()) tensor.add_string_data(s);
  return tensor;
}

pb::TensorProto TensorToProto(ir::Attribute dense, std::string_view name) {
  pb::TensorProto tensor = TensorHeader(dense, name);
  const DataType dtype = dense.dense_type().dtype();
  if (IsPacked(dtype)) {
    const std::vector<std::byte> packed = Pack(dtype, dense.bytes());
    tensor.set_raw_data(packed.data(), packed.size());
  } else if (dtype != DataType::kString) {
    tensor.set_raw_data(dense.bytes().data(), dense.num_bytes());
  }
  return tensor;
}

}  // namespace weft::onnx

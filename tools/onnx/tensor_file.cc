#include "tools/onnx/tensor_file.h"

#include <fmt/format.h>

#include <utility>

#include "tools/onnx/export/file_writer.h"
#include "tools/onnx/proto/packed.h"
#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/mapped_file.h"
#include "tools/onnx/wire/npy.h"
#include "tools/onnx/wire/text.h"
#include "tools/onnx/wire/wire.h"

namespace weft::onnx {
namespace {

absl::StatusOr<ir::Attribute> ReadProto(ir::IrContext& context, MappedFile& file,
                                        const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const Skeleton skeleton,
                        MakeSkeleton(file.bytes(), MessageKind::kTensor, limits));
  pb::TensorProto tensor;
  if (!tensor.ParseFromString(skeleton.bytes))
    return ir::InvalidArgument("not a valid tensor: protobuf cannot parse it");
  TensorReader reader(&context, skeleton.payloads, &file, "", limits);
  return reader.Read(tensor);
}

absl::StatusOr<ir::Attribute> ReadNpy(ir::IrContext& context, MappedFile& file,
                                      const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const NpyArray array, ParseNpy(&context, file.bytes(), limits));
  TensorReader reader(&context, {}, &file, "", limits);
  return reader.FromRaw(array.type, array.contents, &file);
}

absl::Status Write(const std::string& path, ir::Attribute dense, std::string_view name) {
  if (dense.IsElided()) return ir::InvalidArgument("the contents of the tensor were left out");
  FileWriter file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_RETURN_IF_ERROR(file.Append(TensorHeader(dense, name).SerializeAsString()));
  if (dense.dense_type().dtype() != ir::DataType::kString) {
    WEFT_RETURN_IF_ERROR(file.Append(FieldHeader(kTensorRawData, StoredBytes(dense.dense_type()))));
    WEFT_RETURN_IF_ERROR(file.AppendContents(dense));
  }
  return file.Commit();
}

// SequenceProto.DataType and OptionalProto.DataType.
constexpr int32_t kOfTensors = 1, kOfSequences = 3;

absl::StatusOr<StoredValue> FromProto(const pb::SequenceProto& proto, TensorReader& reader) {
  if (proto.elem_type() != kOfTensors && proto.elem_type() != 0)
    return ir::Unsupported(fmt::format("a sequence of elements of kind {}", proto.elem_type()));
  StoredValue value{.kind = StoredValue::Kind::kSequence};
  for (const pb::TensorProto& tensor : proto.tensor_values()) {
    absl::StatusOr<ir::Attribute> dense = reader.Read(tensor);
    if (!dense.ok())
      return ir::Annotate(dense.status(), fmt::format("element {}", value.tensors.size()));
    value.tensors.push_back(*dense);
  }
  return value;
}

absl::StatusOr<StoredValue> FromProto(const pb::OptionalProto& proto, TensorReader& reader) {
  if (proto.has_sequence_value()) return FromProto(proto.sequence_value(), reader);
  if (proto.has_tensor_value()) {
    WEFT_ASSIGN_OR_RETURN(const ir::Attribute dense, reader.Read(proto.tensor_value()));
    return StoredValue{StoredValue::Kind::kTensor, {dense}};
  }
  const int32_t kind = proto.elem_type();
  if (kind != 0 && kind != kOfTensors && kind != kOfSequences)
    return ir::Unsupported(fmt::format("an optional of kind {}", kind));
  return StoredValue();
}

template <class Message>
absl::StatusOr<StoredValue> ReadMessage(ir::IrContext& context, const std::string& path,
                                        MessageKind kind, const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, limits.max_file_bytes));
  const auto read = [&]() -> absl::StatusOr<StoredValue> {
    WEFT_ASSIGN_OR_RETURN(const Skeleton skeleton, MakeSkeleton(file.bytes(), kind, limits));
    Message message;
    if (!message.ParseFromString(skeleton.bytes))
      return ir::InvalidArgument("not a valid value: protobuf cannot parse it");
    TensorReader reader(&context, skeleton.payloads, &file, "", limits);
    return FromProto(message, reader);
  };
  absl::StatusOr<StoredValue> value = read();
  return value.ok() ? value : ir::Annotate(value.status(), Quoted(path));
}

pb::SequenceProto ToProto(const StoredValue& value) {
  pb::SequenceProto proto;
  proto.set_elem_type(kOfTensors);
  for (const ir::Attribute dense : value.tensors)
    *proto.add_tensor_values() = TensorToProto(dense, "");
  return proto;
}

absl::Status WriteMessage(const std::string& path, const google::protobuf::MessageLite& message) {
  FileWriter file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_RETURN_IF_ERROR(file.Append(message.SerializeAsString()));
  return file.Commit();
}

}  // namespace

absl::StatusOr<ir::Attribute> ReadTensorFile(ir::IrContext& context, const std::string& path,
                                             const ImportLimits& limits) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path, limits.max_file_bytes);
  if (!file.ok()) return OneLine(file.status());
  absl::StatusOr<ir::Attribute> dense =
      path.ends_with(".npy") ? ReadNpy(context, *file, limits) : ReadProto(context, *file, limits);
  if (!dense.ok()) return OneLine(ir::Annotate(dense.status(), Quoted(path)));
  return dense;
}

absl::Status WriteTensorFile(const std::string& path, ir::Attribute dense, std::string_view name) {
  return OneLine(Write(path, dense, name));
}

absl::StatusOr<StoredValue> ReadValueFile(ir::IrContext& context, const std::string& path,
                                          ir::Type type, const ImportLimits& limits) {
  if (!type || !type.HasElement()) {
    WEFT_ASSIGN_OR_RETURN(const ir::Attribute dense, ReadTensorFile(context, path, limits));
    return StoredValue{StoredValue::Kind::kTensor, {dense}};
  }
  absl::StatusOr<StoredValue> value =
      type.IsSequence()
          ? ReadMessage<pb::SequenceProto>(context, path, MessageKind::kSequenceValue, limits)
          : ReadMessage<pb::OptionalProto>(context, path, MessageKind::kOptionalValue, limits);
  if (!value.ok()) return OneLine(value.status());
  return value;
}

absl::Status WriteValueFile(const std::string& path, const StoredValue& value, ir::Type type,
                            std::string_view name) {
  const bool is_optional = type && type.IsOptional();
  if (!is_optional && value.kind == StoredValue::Kind::kTensor)
    return WriteTensorFile(path, value.tensors[0], name);
  for (const ir::Attribute dense : value.tensors)
    if (dense.IsElided()) return ir::InvalidArgument("the contents of a tensor were left out");
  if (!is_optional) {
    pb::SequenceProto proto = ToProto(value);
    proto.set_name(std::string(name));
    return OneLine(WriteMessage(path, proto));
  }
  pb::OptionalProto proto;
  proto.set_name(std::string(name));
  proto.set_elem_type(type.element().IsSequence() ? kOfSequences : kOfTensors);
  if (value.kind == StoredValue::Kind::kTensor) {
    *proto.mutable_tensor_value() = TensorToProto(value.tensors[0], "");
  } else if (value.kind == StoredValue::Kind::kSequence) {
    *proto.mutable_sequence_value() = ToProto(value);
  }
  return OneLine(WriteMessage(path, proto));
}

}  // namespace weft::onnx

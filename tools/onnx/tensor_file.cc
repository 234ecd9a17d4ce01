#include "tools/onnx/tensor_file.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

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
  if (array.is_column_major) return reader.FromRaw(array.type, RowMajor(array), nullptr);
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

// SequenceProto.DataType and OptionalProto.DataType. In both, values of kind K lie in field K + 2.
constexpr int32_t kOfNothing = 0, kOfTensors = 1, kOfSequences = 3, kOfOptionals = 5;

// A file does not say what message it is, and protobuf reads most as any other: a tensor is a sequence of nothing with
// fields that are not known. So a message has to say of which kind its values are and to have no others.
bool HoldsWhatItStates(const google::protobuf::Message& message, int32_t kind) {
  constexpr int kElemType = 2;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  bool is_stated = kOfNothing <= kind && kind <= kOfOptionals, has_kind = false;
  for (const auto* field : fields) {
    has_kind |= field->number() == kElemType;
    is_stated &= field->number() <= kElemType || field->number() == kind + 2;
  }
  const google::protobuf::UnknownFieldSet& others = reflection.GetUnknownFields(message);
  for (int i = 0; i < others.field_count(); ++i)
    is_stated &= others.field(i).number() == kind + 2 &&
                 others.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
  return is_stated && has_kind;
}

absl::StatusOr<StoredValue> FromProto(const pb::SequenceProto& proto, TensorReader& reader) {
  const int32_t kind = proto.elem_type();
  if (!HoldsWhatItStates(proto, kind)) return ir::InvalidArgument("not a sequence");
  if (kind != kOfTensors && kind != kOfNothing)
    return ir::Unsupported(fmt::format("a sequence of elements of kind {}", kind));
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
  const int32_t kind = proto.elem_type();
  if (!HoldsWhatItStates(proto, kind) || proto.tensor_value_size() > 1)
    return ir::InvalidArgument("not an optional");
  if (kind != kOfNothing && kind != kOfTensors && kind != kOfSequences)
    return ir::Unsupported(fmt::format("an optional of kind {}", kind));
  if (proto.has_sequence_value()) return FromProto(proto.sequence_value(), reader);
  if (proto.tensor_value().empty()) return StoredValue();
  WEFT_ASSIGN_OR_RETURN(const ir::Attribute dense, reader.Read(proto.tensor_value(0)));
  return StoredValue{StoredValue::Kind::kTensor, {dense}};
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
  if (path.ends_with(".npy"))
    return OneLine(
        ir::InvalidArgument(fmt::format("{}: a .npy file holds a tensor, not {}", Quoted(path),
                                        type.IsSequence() ? "a sequence" : "an optional")));
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
  if (value.kind == StoredValue::Kind::kTensor) {
    proto.set_elem_type(kOfTensors);
    *proto.add_tensor_value() = TensorToProto(value.tensors[0], "");
  } else if (value.kind == StoredValue::Kind::kSequence) {
    proto.set_elem_type(kOfSequences);
    *proto.mutable_sequence_value() = ToProto(value);
  } else {
    proto.set_elem_type(type.element().IsSequence() ? kOfSequences : kOfTensors);
  }
  return OneLine(WriteMessage(path, proto));
}

}  // namespace weft::onnx

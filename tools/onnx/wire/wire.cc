#include "tools/onnx/wire/wire.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft::onnx {
namespace {

using Bytes = std::span<const std::byte>;

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

constexpr int kMaxTypeDepth = 16;
constexpr size_t kPatchedLength = 5;  // bytes of a length that is filled in later

struct ChildRow {
  MessageKind parent;
  uint32_t field;
  MessageKind child;
};
// The fields of model.proto that hold messages worth looking into.
constexpr ChildRow kChildren[] = {
    {MessageKind::kModel, 7, MessageKind::kGraph},
    {MessageKind::kModel, 14, MessageKind::kEntry},
    {MessageKind::kModel, 20, MessageKind::kTrainingInfo},
    {MessageKind::kModel, 25, MessageKind::kFunction},
    {MessageKind::kModel, 26, MessageKind::kDeviceConfiguration},
    {MessageKind::kGraph, 1, MessageKind::kNode},
    {MessageKind::kGraph, 5, MessageKind::kTensor},
    {MessageKind::kGraph, 11, MessageKind::kValueInfo},
    {MessageKind::kGraph, 12, MessageKind::kValueInfo},
    {MessageKind::kGraph, 13, MessageKind::kValueInfo},
    {MessageKind::kGraph, 14, MessageKind::kAnnotation},
    {MessageKind::kGraph, 15, MessageKind::kSparseTensor},
    {MessageKind::kGraph, 16, MessageKind::kEntry},
    {MessageKind::kNode, 5, MessageKind::kAttribute},
    {MessageKind::kNode, 9, MessageKind::kEntry},
    {MessageKind::kNode, 10, MessageKind::kNodeDevices},
    {MessageKind::kAttribute, 5, MessageKind::kTensor},
    {MessageKind::kAttribute, 6, MessageKind::kGraph},
    {MessageKind::kAttribute, 10, MessageKind::kTensor},
    {MessageKind::kAttribute, 11, MessageKind::kGraph},
    {MessageKind::kAttribute, 14, MessageKind::kType},
    {MessageKind::kAttribute, 15, MessageKind::kType},
    {MessageKind::kAttribute, 22, MessageKind::kSparseTensor},
    {MessageKind::kAttribute, 23, MessageKind::kSparseTensor},
    {MessageKind::kTensor, 13, MessageKind::kEntry},
    {MessageKind::kTensor, 16, MessageKind::kEntry},
    {MessageKind::kSparseTensor, 1, MessageKind::kTensor},
    {MessageKind::kSparseTensor, 2, MessageKind::kTensor},
    {MessageKind::kFunction, 7, MessageKind::kNode},
    {MessageKind::kFunction, 11, MessageKind::kAttribute},
    {MessageKind::kFunction, 12, MessageKind::kValueInfo},
    {MessageKind::kFunction, 14, MessageKind::kEntry},
    {MessageKind::kValueInfo, 2, MessageKind::kType},
    {MessageKind::kValueInfo, 4, MessageKind::kEntry},
    {MessageKind::kAnnotation, 2, MessageKind::kEntry},
    {MessageKind::kType, 1, MessageKind::kTensorType},
    {MessageKind::kType, 4, MessageKind::kWrappedType},
    {MessageKind::kType, 5, MessageKind::kMapType},
    {MessageKind::kType, 8, MessageKind::kTensorType},
    {MessageKind::kType, 9, MessageKind::kWrappedType},
    {MessageKind::kTensorType, 2, MessageKind::kShape},
    {MessageKind::kWrappedType, 1, MessageKind::kType},
    {MessageKind::kMapType, 2, MessageKind::kType},
    {MessageKind::kNodeDevices, 2, MessageKind::kSharding},
    {MessageKind::kSharding, 3, MessageKind::kDeviceGroup},
    {MessageKind::kSharding, 4, MessageKind::kShardedDim},
    {MessageKind::kShardedDim, 2, MessageKind::kSimpleSharding},
    {MessageKind::kSequenceValue, 3, MessageKind::kTensor},
    {MessageKind::kOptionalValue, 3, MessageKind::kTensor},
    {MessageKind::kOptionalValue, 5, MessageKind::kSequenceValue},
};

MessageKind ChildOf(MessageKind parent, uint64_t field) {
  for (const ChildRow& row : kChildren)
    if (row.parent == parent && row.field == field) return row.child;
  return MessageKind::kLeaf;
}

// A message of these kinds says nothing valid when it is empty; refusing it bounds how much
// protobuf's objects can outgrow the bytes they come from.
bool MayBeEmpty(MessageKind kind) {
  switch (kind) {
    case MessageKind::kNode:
    case MessageKind::kAttribute:
    case MessageKind::kValueInfo:
    case MessageKind::kFunction:
    case MessageKind::kTensor:
    case MessageKind::kSparseTensor:
    case MessageKind::kDeviceConfiguration:
    case MessageKind::kNodeDevices:
    case MessageKind::kSharding:
    case MessageKind::kDeviceGroup:
    case MessageKind::kShardedDim:
    case MessageKind::kSimpleSharding:
      return false;
    default:
      return true;
  }
}

// Of what a file holds.
std::string_view NameOf(MessageKind kind) {
  switch (kind) {
    case MessageKind::kTensor:
      return "tensor";
    case MessageKind::kSequenceValue:
      return "sequence";
    case MessageKind::kOptionalValue:
      return "optional";
    default:
      return "model";
  }
}

class Scanner {
 public:
  // `what` the bytes are, for messages.
  Scanner(Bytes all, std::string_view what, const ImportLimits& limits)
      : all_(all), what_(what), limits_(limits) {}

  // Copies the fields of the message in [begin, end) to the skeleton.
  absl::Status Message(MessageKind kind, size_t begin, size_t end, int graph_depth, int type_depth);
  Skeleton Take() { return std::move(skeleton_); }

 private:
  struct Field {
    uint64_t number = 0;
    int wire_type = 0;
    size_t start = 0;    // of the tag
    size_t payload = 0;  // of the value
    size_t end = 0;
  };
  absl::Status ReadVarint(size_t* position, size_t end, uint64_t* value) const;
  absl::Status ReadHeader(size_t position, size_t end, Field* field) const;
  absl::Status Child(MessageKind child, const Field& field, int graph_depth, int type_depth);
  absl::Status Append(Bytes bytes);
  absl::Status Fail(size_t position, std::string_view what) const {
    return ir::InvalidArgument(fmt::format("not a valid {}: byte {}: {}", what_, position, what));
  }

  Bytes all_;
  std::string_view what_;
  const ImportLimits& limits_;
  size_t num_messages_ = 0;
  Skeleton skeleton_;
};

absl::Status Scanner::ReadVarint(size_t* position, size_t end, uint64_t* value) const {
  const size_t start = *position;
  *value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (*position >= end) return Fail(start, "the file ends inside a number");
    const auto byte = static_cast<uint8_t>(all_[(*position)++]);
    if (shift == 63 && byte > 1) return Fail(start, "a number has more than 64 bits");
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return absl::OkStatus();
  }
  return Fail(start, "a number has more than 64 bits");
}

absl::Status Scanner::ReadHeader(size_t position, size_t end, Field* field) const {
  field->start = position;
  uint64_t tag = 0;
  WEFT_RETURN_IF_ERROR(ReadVarint(&position, end, &tag));
  field->number = tag >> 3;
  field->wire_type = static_cast<int>(tag & 7);
  if (field->number == 0 || tag > UINT32_MAX) return Fail(field->start, "bad field number");
  uint64_t size = 0;
  field->payload = position;
  switch (field->wire_type) {
    case kVarint: {
      uint64_t ignored = 0;
      WEFT_RETURN_IF_ERROR(ReadVarint(&position, end, &ignored));
      size = position - field->payload;
      break;
    }
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    case kLengthDelimited:
      WEFT_RETURN_IF_ERROR(ReadVarint(&position, end, &size));
      field->payload = position;
      break;
    default:
      return Fail(field->start, fmt::format("unknown wire type {}", field->wire_type));
  }
  if (size > end - field->payload)
    return Fail(field->start, fmt::format("field {} needs {} bytes but {} are left", field->number,
                                          size, end - field->payload));
  field->end = field->payload + size;
  return absl::OkStatus();
}

absl::Status Scanner::Append(Bytes bytes) {
  if (bytes.size() > limits_.max_graph_bytes - skeleton_.bytes.size())
    return ir::InvalidArgument(fmt::format("the {} has more than {} bytes without its weights",
                                           what_, limits_.max_graph_bytes));
  skeleton_.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return absl::OkStatus();
}

absl::Status Scanner::Child(MessageKind child, const Field& field, int graph_depth,
                            int type_depth) {
  if (field.payload == field.end && !MayBeEmpty(child))
    return Fail(field.start, fmt::format("field {} is empty", field.number));
  graph_depth += child == MessageKind::kGraph;
  type_depth += child == MessageKind::kType;
  if (graph_depth > limits_.max_graph_depth)
    return Fail(field.start,
                fmt::format("graphs are nested deeper than {}", limits_.max_graph_depth));
  if (type_depth > kMaxTypeDepth)
    return Fail(field.start, fmt::format("types are nested deeper than {}", kMaxTypeDepth));
  const size_t length_at = skeleton_.bytes.size();
  constexpr std::byte kPlaceholder[kPatchedLength] = {};
  WEFT_RETURN_IF_ERROR(Append(kPlaceholder));
  WEFT_RETURN_IF_ERROR(Message(child, field.payload, field.end, graph_depth, type_depth));
  size_t length = skeleton_.bytes.size() - length_at - kPatchedLength;
  for (size_t i = 0; i < kPatchedLength; ++i, length >>= 7)
    skeleton_.bytes[length_at + i] =
        static_cast<char>((length & 0x7f) | (i + 1 < kPatchedLength ? 0x80 : 0));
  return absl::OkStatus();
}

absl::Status Scanner::Message(MessageKind kind, size_t begin, size_t end, int graph_depth,
                              int type_depth) {
  size_t num_dims = 0;
  Field field;
  for (size_t position = begin; position < end; position = field.end) {
    WEFT_RETURN_IF_ERROR(ReadHeader(position, end, &field));
    if (field.wire_type != kLengthDelimited) {
      WEFT_RETURN_IF_ERROR(Append(all_.subspan(field.start, field.end - field.start)));
      continue;
    }
    if (++num_messages_ > limits_.max_messages)
      return Fail(field.start,
                  fmt::format("the {} has more than {} parts", what_, limits_.max_messages));
    if (kind == MessageKind::kShape && ++num_dims > static_cast<size_t>(limits_.max_rank))
      return Fail(field.start,
                  fmt::format("a shape has more than {} dimensions", limits_.max_rank));
    const MessageKind child = ChildOf(kind, field.number);
    if (child == MessageKind::kTrainingInfo) continue;
    if (kind == MessageKind::kTensor && field.number == kTensorRawData) {
      const uint64_t index = skeleton_.payloads.size();
      skeleton_.payloads.push_back(all_.subspan(field.payload, field.end - field.payload));
      const std::byte header[] = {std::byte(kTensorRawData << 3 | kLengthDelimited),
                                  std::byte(sizeof(index))};
      WEFT_RETURN_IF_ERROR(Append(header));
      WEFT_RETURN_IF_ERROR(Append(std::as_bytes(std::span(&index, 1))));
    } else if (child == MessageKind::kLeaf) {
      WEFT_RETURN_IF_ERROR(Append(all_.subspan(field.start, field.end - field.start)));
    } else {
      const auto tag = static_cast<uint32_t>(field.number << 3 | kLengthDelimited);
      const std::byte bytes[] = {std::byte((tag & 0x7f) | (tag > 0x7f ? 0x80 : 0)),
                                 std::byte(tag >> 7)};
      WEFT_RETURN_IF_ERROR(Append(std::span(bytes).first(tag > 0x7f ? 2 : 1)));
      WEFT_RETURN_IF_ERROR(Child(child, field, graph_depth, type_depth));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Skeleton> MakeSkeleton(std::span<const std::byte> message, MessageKind kind,
                                      const ImportLimits& limits) {
  Scanner scanner(message, NameOf(kind), limits);
  WEFT_RETURN_IF_ERROR(scanner.Message(kind, 0, message.size(), 0, 0));
  return scanner.Take();
}

bool ReadPayloadIndex(const std::string& raw_data, size_t* index) {
  uint64_t value = 0;
  if (raw_data.size() != sizeof(value)) return false;
  std::memcpy(&value, raw_data.data(), sizeof(value));
  *index = value;
  return true;
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value > 0x7f; value >>= 7) ++size;
  return size;
}

std::string Varint(uint64_t value, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i, value >>= 7)
    out += static_cast<char>((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
  return out;
}

std::string FieldHeader(uint32_t field, uint64_t length) {
  return static_cast<char>(field << 3 | kLengthDelimited) + Varint(length, VarintSize(length));
}

}  // namespace weft::onnx

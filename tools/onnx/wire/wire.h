// A bounds-checked walk over the protobuf wire format of ONNX messages that cuts out the contents
// of tensors, so that protobuf parses only the graph and never copies a weight.
//
// In the skeleton every TensorProto.raw_data is replaced by an 8-byte little-endian index into
// `payloads`, which point into the scanned bytes. TrainingInfoProto is left out. The walk refuses
// bad lengths, groups, too deep nesting, too many parts and empty parts that cannot be valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "tools/onnx/limits.h"

namespace weft::onnx {

enum class MessageKind {
  kLeaf,  // not looked into
  kModel,
  kTrainingInfo,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kFunction,
  kValueInfo,
  kType,
  kTensorType,
  kWrappedType,  // sequence, optional
  kMapType,
  kShape,
  kEntry,       // key and value: metadata, external data
  kAnnotation,  // of a quantized tensor
  kDeviceConfiguration,
  kNodeDevices,
  kSharding,
  kDeviceGroup,
  kShardedDim,
  kSimpleSharding,
  kSequenceValue,
  kOptionalValue,
};

struct Skeleton {
  std::string bytes;
  std::vector<std::span<const std::byte>> payloads;
};

absl::StatusOr<Skeleton> MakeSkeleton(std::span<const std::byte> message, MessageKind kind,
                                      const ImportLimits& limits);

// The index that stands for a payload in a skeleton.
bool ReadPayloadIndex(const std::string& raw_data, size_t* index);

// --- writing ---

// Field numbers below 16, the only ones that are written by hand.
inline constexpr uint32_t kModelGraph = 7, kGraphInitializer = 5, kTensorRawData = 9,
                          kTensorDoc = 12;

size_t VarintSize(uint64_t value);
// In `size` bytes; more than needed give leading zeros, which every reader takes.
std::string Varint(uint64_t value, size_t size);
// Tag and length of a length-delimited field.
std::string FieldHeader(uint32_t field, uint64_t length);

}  // namespace weft::onnx

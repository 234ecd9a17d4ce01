// The bytes of a model file: a ModelProto whose main graph's initializers are written from where
// they lie. Protobuf lets fields come in any order, so the file is the model without its graph,
// then the graph without its initializers, then one initializer after the other. A doc_string of
// spaces before raw_data puts large contents at a multiple of 64 bytes in the file, where a map of
// the file can be read as it is.
#pragma once

#include <span>
#include <string>

#include "ir/base/status.h"
#include "tools/onnx/export/graph_writer.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

// `model` has no graph. Above max_model_bytes the large tensors go to PATH.data.
absl::Status WriteModel(const pb::ModelProto& model, const pb::GraphProto& graph,
                        std::span<const GraphWriter::Tensor> tensors, const std::string& path,
                        size_t max_model_bytes);

// All of it into *bytes. Unsupported above max_model_bytes.
absl::Status WriteModelBytes(const pb::ModelProto& model, const pb::GraphProto& graph,
                             std::span<const GraphWriter::Tensor> tensors, size_t max_model_bytes,
                             std::string* bytes);

}  // namespace weft::onnx

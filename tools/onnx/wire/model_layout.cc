#include "tools/onnx/wire/model_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/onnx/export/file_writer.h"
#include "tools/onnx/proto/packed.h"
#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/wire.h"

namespace weft::onnx {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kAlignFrom = 4096;     // smaller contents are copied when they are read
constexpr size_t kExternalFrom = 1024;  // smaller ones stay in the model
constexpr size_t kExternalAlignment = 4096;

struct Initializer {
  std::string header;  // the message but for raw_data
  ir::Attribute contents;
  bool has_contents = false;
  size_t size = 0;  // of the contents in the file

  size_t MessageSize() const {
    if (!has_contents) return header.size();
    return header.size() + FieldHeader(kTensorRawData, size).size() + size;
  }
  size_t FieldSize() const {
    return FieldHeader(kGraphInitializer, MessageSize()).size() + MessageSize();
  }
};

// Lengthens the header such that the contents lie aligned when the field starts at `offset`.
void Align(Initializer* initializer, size_t offset) {
  if (!initializer->has_contents || initializer->size < kAlignFrom) return;
  const auto misaligned = [&] {
    return (offset + initializer->FieldSize() - initializer->size) % kAlignment != 0;
  };
  const std::string bare = initializer->header;
  for (size_t spaces = 0; misaligned() && spaces < 2 * kAlignment; ++spaces)
    initializer->header = bare + FieldHeader(kTensorDoc, spaces) + std::string(spaces, ' ');
}

// The initializers laid out for a graph field whose length takes `length_size` bytes; returns the
// length of the graph.
size_t LayOut(std::vector<Initializer>* initializers, size_t model_size, size_t graph_size,
              size_t length_size) {
  const size_t start = model_size + 1 + length_size;
  size_t end = start + graph_size;
  for (Initializer& initializer : *initializers) {
    Align(&initializer, end);
    end += initializer.FieldSize();
  }
  return end - start;
}

std::vector<Initializer> MakeInitializers(std::span<const GraphWriter::Tensor> tensors) {
  std::vector<Initializer> initializers;
  for (const GraphWriter::Tensor& tensor : tensors) {
    const ir::Type type = tensor.contents.dense_type();
    const bool is_string = type.dtype() == ir::DataType::kString;
    initializers.push_back({TensorHeader(tensor.contents, tensor.name).SerializeAsString(),
                            tensor.contents, !is_string, is_string ? 0 : StoredBytes(type)});
  }
  return initializers;
}

absl::Status WriteInline(const std::string& model, const std::string& graph,
                         std::span<const GraphWriter::Tensor> tensors, FileWriter* file) {
  std::vector<Initializer> initializers;
  size_t length_size = 1, length = 0;
  for (; length_size <= 10; ++length_size) {
    initializers = MakeInitializers(tensors);
    length = LayOut(&initializers, model.size(), graph.size(), length_size);
    if (VarintSize(length) <= length_size) break;
  }
  WEFT_RETURN_IF_ERROR(file->Append(model));
  WEFT_RETURN_IF_ERROR(
      file->Append(static_cast<char>(kModelGraph << 3 | 2) + Varint(length, length_size) + graph));
  for (const Initializer& initializer : initializers) {
    WEFT_RETURN_IF_ERROR(file->Append(FieldHeader(kGraphInitializer, initializer.MessageSize()) +
                                      initializer.header));
    if (!initializer.has_contents) continue;
    WEFT_RETURN_IF_ERROR(file->Append(FieldHeader(kTensorRawData, initializer.size)));
    WEFT_RETURN_IF_ERROR(file->AppendContents(initializer.contents));
  }
  return file->Commit();
}

absl::Status WriteExternal(const pb::ModelProto& model, pb::GraphProto graph,
                           std::span<const GraphWriter::Tensor> tensors, const std::string& path,
                           FileWriter* file) {
  const std::string data_path = path + ".data";
  FileWriter data;
  WEFT_RETURN_IF_ERROR(data.Open(data_path, ir::OutputFile::Links::kReplace));
  const auto add = [](pb::TensorProto* tensor, const char* key, const std::string& value) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  for (const GraphWriter::Tensor& tensor : tensors) {
    const ir::Type type = tensor.contents.dense_type();
    pb::TensorProto* proto = graph.add_initializer();
    if (type.dtype() == ir::DataType::kString || StoredBytes(type) < kExternalFrom) {
      *proto = TensorToProto(tensor.contents, tensor.name);
      continue;
    }
    *proto = TensorHeader(tensor.contents, tensor.name);
    const size_t rest = data.size() % kExternalAlignment;
    if (rest > 0) WEFT_RETURN_IF_ERROR(data.AppendZeros(kExternalAlignment - rest));
    proto->set_data_location(pb::TensorProto::EXTERNAL);
    add(proto, "location", data_path.substr(data_path.rfind('/') + 1));
    add(proto, "offset", std::to_string(data.size()));
    add(proto, "length", std::to_string(StoredBytes(type)));
    WEFT_RETURN_IF_ERROR(data.AppendContents(tensor.contents));
  }
  pb::ModelProto whole = model;
  *whole.mutable_graph() = std::move(graph);
  if (whole.ByteSizeLong() >= size_t{1} << 31)
    return ir::Unsupported("a model of more than 2 GiB without its weights");
  WEFT_RETURN_IF_ERROR(file->Append(whole.SerializeAsString()));
  ir::OutputFile* const both[] = {&data, file};
  return ir::CommitTogether(both);
}

// Of the file at most, or Unsupported.
absl::StatusOr<size_t> SizeOf(const pb::ModelProto& model, const pb::GraphProto& graph,
                              std::span<const GraphWriter::Tensor> tensors) {
  size_t size = model.ByteSizeLong() + graph.ByteSizeLong();
  if (size >= size_t{1} << 31)
    return ir::Unsupported("a model of more than 2 GiB without its weights");
  for (const Initializer& i : MakeInitializers(tensors)) size += i.FieldSize() + 2 * kAlignment;
  return size;
}

}  // namespace

absl::Status WriteModel(const pb::ModelProto& model, const pb::GraphProto& graph,
                        std::span<const GraphWriter::Tensor> tensors, const std::string& path,
                        size_t max_model_bytes) {
  FileWriter file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_ASSIGN_OR_RETURN(const size_t size, SizeOf(model, graph, tensors));
  if (size > max_model_bytes) return WriteExternal(model, graph, tensors, path, &file);
  return WriteInline(model.SerializeAsString(), graph.SerializeAsString(), tensors, &file);
}

absl::Status WriteModelBytes(const pb::ModelProto& model, const pb::GraphProto& graph,
                             std::span<const GraphWriter::Tensor> tensors, size_t max_model_bytes,
                             std::string* bytes) {
  WEFT_ASSIGN_OR_RETURN(const size_t size, SizeOf(model, graph, tensors));
  if (size > max_model_bytes)
    return ir::Unsupported(fmt::format(
        "a model of {} bytes, which is written to a file only: in memory {} are allowed", size,
        max_model_bytes));
  FileWriter file;
  bytes->clear();
  bytes->reserve(size);
  file.OpenMemory(bytes);
  return WriteInline(model.SerializeAsString(), graph.SerializeAsString(), tensors, &file);
}

}  // namespace weft::onnx

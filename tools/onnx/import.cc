#include "tools/onnx/import.h"

#include <google/protobuf/io/coded_stream.h>

#include "ir/dialects/fused.h"
#include "ir/dialects/microsoft.h"
#include "tools/onnx/import/importer.h"
#include "tools/onnx/wire/mapped_file.h"
#include "tools/onnx/wire/text.h"
#include "tools/onnx/wire/wire.h"

namespace weft::onnx {
namespace {

// What the skeleton's own depth limits amount to in messages, and room to spare.
constexpr int kParseDepth = 1000;

absl::StatusOr<std::unique_ptr<ir::Program>> Import(ir::IrContext& context,
                                                    std::span<const std::byte> bytes,
                                                    onnx::MappedFile* file,
                                                    const std::string& directory,
                                                    const ImportOptions& options) {
  if (bytes.empty()) return ir::InvalidArgument("not a valid model: the file is empty");
  WEFT_ASSIGN_OR_RETURN(onnx::Skeleton skeleton,
                        onnx::MakeSkeleton(bytes, onnx::MessageKind::kModel, options.limits));
  pb::ModelProto model;
  {
    google::protobuf::io::CodedInputStream stream(
        reinterpret_cast<const uint8_t*>(skeleton.bytes.data()),
        static_cast<int>(skeleton.bytes.size()));
    stream.SetRecursionLimit(kParseDepth);
    if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
      return ir::InvalidArgument("not a valid model: protobuf cannot parse it");
  }
  skeleton.bytes = std::string();
  LoadFusedDialect(context);
  LoadMicrosoftDialect(context);
  onnx::TensorReader tensors(&context, skeleton.payloads, file, directory, options.limits);
  return onnx::ImportModel(&context, model, tensors, options);
}

absl::StatusOr<std::unique_ptr<ir::Program>> OneLine(
    absl::StatusOr<std::unique_ptr<ir::Program>> result) {
  if (result.ok()) return result;
  return onnx::OneLine(result.status());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Program>> ImportOnnx(ir::IrContext& context,
                                                        const std::string& path,
                                                        const ImportOptions& options) {
  absl::StatusOr<onnx::MappedFile> file =
      onnx::MappedFile::Open(path, options.limits.max_file_bytes);
  if (!file.ok()) return onnx::OneLine(file.status());
  return OneLine(Import(context, file->bytes(), &*file, onnx::DirectoryOf(path), options));
}

absl::StatusOr<std::unique_ptr<ir::Program>> ImportOnnxBytes(ir::IrContext& context,
                                                             std::span<const std::byte> bytes,
                                                             const ImportOptions& options) {
  return OneLine(Import(context, bytes, nullptr, "", options));
}

}  // namespace weft::onnx

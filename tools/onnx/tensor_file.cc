#include "tools/onnx/tensor_file.h"

#include <utility>

#include "tools/onnx/export/file_writer.h"
#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/mapped_file.h"
#include "tools/onnx/wire/npy.h"
#include "tools/onnx/wire/text.h"
#include "tools/onnx/wire/wire.h"

namespace weft::onnx {
namespace {

absl::StatusOr<ir::Attribute> ReadProto(ir::IrContext& context, onnx::MappedFile& file,
                                        const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const onnx::Skeleton skeleton,
                        onnx::MakeSkeleton(file.bytes(), onnx::MessageKind::kTensor, limits));
  pb::TensorProto tensor;
  if (!tensor.ParseFromString(skeleton.bytes))
    return ir::InvalidArgument("not a valid tensor: protobuf cannot parse it");
  onnx::TensorReader reader(&context, skeleton.payloads, &file, "", limits);
  return reader.Read(tensor);
}

absl::StatusOr<ir::Attribute> ReadNpy(ir::IrContext& context, onnx::MappedFile& file,
                                      const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const onnx::NpyArray array, onnx::ParseNpy(&context, file.bytes(), limits));
  onnx::TensorReader reader(&context, {}, &file, "", limits);
  return reader.FromRaw(array.type, array.contents, &file);
}

absl::Status Write(const std::string& path, ir::Attribute dense, std::string_view name) {
  if (dense.IsElided()) return ir::InvalidArgument("the contents of the tensor were left out");
  onnx::FileWriter file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_RETURN_IF_ERROR(file.Append(onnx::TensorHeader(dense, name).SerializeAsString()));
  if (dense.dense_type().dtype() != ir::DataType::kString) {
    WEFT_RETURN_IF_ERROR(
        file.Append(onnx::FieldHeader(onnx::kTensorRawData, dense.bytes().size())));
    WEFT_RETURN_IF_ERROR(file.Append(dense.bytes()));
  }
  return file.Commit();
}

}  // namespace

absl::StatusOr<ir::Attribute> ReadTensorFile(ir::IrContext& context, const std::string& path,
                                             const ImportLimits& limits) {
  absl::StatusOr<onnx::MappedFile> file = onnx::MappedFile::Open(path, limits.max_file_bytes);
  if (!file.ok()) return onnx::OneLine(file.status());
  absl::StatusOr<ir::Attribute> dense =
      path.ends_with(".npy") ? ReadNpy(context, *file, limits) : ReadProto(context, *file, limits);
  if (!dense.ok()) return onnx::OneLine(ir::Annotate(dense.status(), onnx::Quoted(path)));
  return dense;
}

absl::Status WriteTensorFile(const std::string& path, ir::Attribute dense, std::string_view name) {
  return onnx::OneLine(Write(path, dense, name));
}

}  // namespace weft::onnx

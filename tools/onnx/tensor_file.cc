#include "tools/onnx/tensor_file.h"

#include <utility>

#include "tools/onnx/internal/file_writer.h"
#include "tools/onnx/internal/mapped_file.h"
#include "tools/onnx/internal/npy.h"
#include "tools/onnx/internal/proto_tensor.h"
#include "tools/onnx/internal/text.h"
#include "tools/onnx/internal/wire.h"

namespace weft::tools {
namespace {

absl::StatusOr<ir::Attribute> ReadProto(ir::IrContext& context, bridge::MappedFile& file,
                                        const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const bridge::Skeleton skeleton,
                        bridge::MakeSkeleton(file.bytes(), bridge::MessageKind::kTensor, limits));
  bridge::pb::TensorProto tensor;
  if (!tensor.ParseFromString(skeleton.bytes))
    return ir::InvalidArgument("not a valid tensor: protobuf cannot parse it");
  bridge::TensorReader reader(&context, skeleton.payloads, &file, "", limits);
  return reader.Read(tensor);
}

absl::StatusOr<ir::Attribute> ReadNpy(ir::IrContext& context, bridge::MappedFile& file,
                                      const ImportLimits& limits) {
  WEFT_ASSIGN_OR_RETURN(const bridge::NpyArray array,
                        bridge::ParseNpy(&context, file.bytes(), limits));
  bridge::TensorReader reader(&context, {}, &file, "", limits);
  return reader.FromRaw(array.type, array.contents, &file);
}

absl::Status Write(const std::string& path, ir::Attribute dense, std::string_view name) {
  if (dense.IsElided()) return ir::InvalidArgument("the contents of the tensor were left out");
  bridge::FileWriter file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_RETURN_IF_ERROR(file.Append(bridge::TensorHeader(dense, name).SerializeAsString()));
  if (dense.dense_type().dtype() != ir::DataType::kString) {
    WEFT_RETURN_IF_ERROR(
        file.Append(bridge::FieldHeader(bridge::kTensorRawData, dense.bytes().size())));
    WEFT_RETURN_IF_ERROR(file.Append(dense.bytes()));
  }
  return file.Commit();
}

}  // namespace

absl::StatusOr<ir::Attribute> ReadTensorFile(ir::IrContext& context, const std::string& path,
                                             const ImportLimits& limits) {
  absl::StatusOr<bridge::MappedFile> file = bridge::MappedFile::Open(path, limits.max_file_bytes);
  if (!file.ok()) return bridge::OneLine(file.status());
  absl::StatusOr<ir::Attribute> dense =
      path.ends_with(".npy") ? ReadNpy(context, *file, limits) : ReadProto(context, *file, limits);
  if (!dense.ok()) return bridge::OneLine(ir::Annotate(dense.status(), bridge::Quoted(path)));
  return dense;
}

absl::Status WriteTensorFile(const std::string& path, ir::Attribute dense, std::string_view name) {
  return bridge::OneLine(Write(path, dense, name));
}

}  // namespace weft::tools

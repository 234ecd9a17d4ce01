#include "tools/onnx/tensor_file.h"

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

}  // namespace weft::onnx

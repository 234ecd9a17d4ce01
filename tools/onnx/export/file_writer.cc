#include "tools/onnx/export/file_writer.h"

#include <algorithm>
#include <vector>

#include "tools/onnx/proto/packed.h"

namespace weft::onnx {

absl::Status FileWriter::AppendContents(ir::Attribute dense) {
  const ir::DataType dtype = dense.dense_type().dtype();
  if (dense.IsInMemory() && !IsPacked(dtype)) return Append(dense.bytes());
  // A multiple of what fits into a byte, and of elements.
  constexpr size_t kPart = size_t{256} << 10;
  std::vector<std::byte> part(std::min(kPart, dense.num_bytes()));
  for (size_t at = 0; at < dense.num_bytes(); at += kPart) {
    part.resize(std::min(kPart, dense.num_bytes() - at));
    dense.Read(at, part);
    WEFT_RETURN_IF_ERROR(IsPacked(dtype) ? Append(Pack(dtype, part)) : Append(part));
  }
  return absl::OkStatus();
}

}  // namespace weft::onnx

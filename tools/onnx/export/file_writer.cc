#include "tools/onnx/export/file_writer.h"

#include <algorithm>

#include "tools/onnx/proto/packed.h"

namespace weft::onnx {

absl::Status FileWriter::AppendContents(ir::Attribute dense) {
  constexpr size_t kElements = size_t{256} << 10;  // a multiple of what fits into a byte
  const ir::DataType dtype = dense.dense_type().dtype();
  std::span<const std::byte> rest = dense.bytes();
  if (!IsPacked(dtype)) return Append(rest);
  while (!rest.empty()) {
    const size_t count = std::min(rest.size(), kElements);
    WEFT_RETURN_IF_ERROR(Append(Pack(dtype, rest.first(count))));
    rest = rest.subspan(count);
  }
  return absl::OkStatus();
}

}  // namespace weft::onnx

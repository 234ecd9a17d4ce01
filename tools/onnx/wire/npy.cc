#include "tools/onnx/wire/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::DataType;

constexpr std::string_view kMagic = "\x93NUMPY";

struct DescrRow {
  std::string_view descr;
  DataType dtype;
};
constexpr DescrRow kDescrs[] = {
    {"<f4", DataType::kF32},  {"<f8", DataType::kF64},   {"<f2", DataType::kF16},
    {"|b1", DataType::kBool}, {"|i1", DataType::kI8},    {"|u1", DataType::kU8},
    {"<i2", DataType::kI16},  {"<u2", DataType::kU16},   {"<i4", DataType::kI32},
    {"<u4", DataType::kU32},  {"<i8", DataType::kI64},   {"<u8", DataType::kU64},
    {"<c8", DataType::kC64},  {"<c16", DataType::kC128},
};

absl::Status Malformed(std::string_view what) {
  return ir::InvalidArgument(fmt::format("not a valid .npy file: {}", what));
}

// What follows `'key':` in the header, without leading spaces; empty if the key is missing.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  at = header.find(':', at);
  if (at == std::string_view::npos) return {};
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

absl::StatusOr<DataType> ParseDescr(std::string_view header) {
  const std::string_view value = ValueOf(header, "'descr'");
  if (value.starts_with('[')) return ir::Unsupported("a structured array of NumPy");
  if (value.empty() || value[0] != '\'') return Malformed("no element type");
  const size_t end = value.find('\'', 1);
  if (end == std::string_view::npos) return Malformed("no element type");
  const std::string_view descr = value.substr(1, end - 1);
  for (const DescrRow& row : kDescrs)
    if (row.descr == descr) return row.dtype;
  return ir::Unsupported(fmt::format("element type {} of NumPy", Quoted(descr)));
}

absl::StatusOr<ir::Shape> ParseShape(std::string_view header, int max_rank) {
  std::string_view value = ValueOf(header, "'shape'");
  const size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos)
    return Malformed("no shape");
  value = value.substr(1, end - 1);
  ir::Shape dims;
  while (true) {
    const size_t start = value.find_first_not_of(" ,");
    if (start == std::string_view::npos) return dims;
    value.remove_prefix(start);
    const size_t length = std::min(value.find_first_of(" ,"), value.size());
    size_t dim = 0;
    if (!ParseSize(value.substr(0, length), &dim)) return Malformed("bad shape");
    dims.push_back(static_cast<int64_t>(dim));
    if (dims.size() > static_cast<size_t>(max_rank)) return Malformed("too many dimensions");
    value.remove_prefix(length);
  }
}

}  // namespace

absl::StatusOr<NpyArray> ParseNpy(ir::IrContext* context, std::span<const std::byte> bytes,
                                  const ImportLimits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 10 || !text.starts_with(kMagic)) return Malformed("no NumPy header");
  const int version = static_cast<uint8_t>(text[6]);
  if (version < 1 || version > 3) return Malformed(fmt::format("version {}", version));
  const size_t length_size = version == 1 ? 2 : 4;
  size_t header_start = 8 + length_size, header_size = 0;
  if (text.size() < header_start) return Malformed("the file ends inside its header");
  for (size_t i = length_size; i > 0; --i)
    header_size = header_size << 8 | static_cast<uint8_t>(text[8 + i - 1]);
  if (header_size > text.size() - header_start) return Malformed("the file ends inside its header");
  const std::string_view header = text.substr(header_start, header_size);

  NpyArray array;
  WEFT_ASSIGN_OR_RETURN(const DataType dtype, ParseDescr(header));
  WEFT_ASSIGN_OR_RETURN(const ir::Shape dims, ParseShape(header, limits.max_rank));
  const std::string_view fortran = ValueOf(header, "'fortran_order'");
  if (!fortran.starts_with("False") && !fortran.starts_with("True"))
    return Malformed("no fortran_order");
  array.is_column_major = fortran.starts_with("True") && dims.size() > 1;
  WEFT_ASSIGN_OR_RETURN(
      array.type, CheckedTensorType(context, static_cast<int64_t>(dtype), dims, limits.max_rank));
  array.contents = bytes.subspan(header_start + header_size);
  if (array.contents.size() != static_cast<size_t>(array.type.NumBytes()))
    return Malformed(fmt::format("{} bytes of contents, expected {}", array.contents.size(),
                                 array.type.NumBytes()));
  return array;
}

std::vector<std::byte> RowMajor(const NpyArray& array) {
  const std::span<const int64_t> dims = array.type.dims();
  const size_t size = ir::ElementSize(array.type.dtype());
  std::vector<size_t> strides(dims.size());  // in the file, in bytes
  size_t stride = size;
  for (size_t d = 0; d < dims.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(dims[d]);
  }
  std::vector<std::byte> rows(array.contents.size());
  std::vector<int64_t> index(dims.size());
  size_t from = 0;
  for (size_t to = 0; to < rows.size(); to += size) {
    std::memcpy(&rows[to], &array.contents[from], size);
    for (size_t d = dims.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < dims[d]) break;
      from -= strides[d] * static_cast<size_t>(index[d]);
      index[d] = 0;
    }
  }
  return rows;
}

}  // namespace weft::onnx

// Elements of 4 and 2 bits, one per byte in memory, as files hold them: packed into bytes from the low
// bits up, the last byte filled with zeros. Other types look the same in both.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/attribute.h"
#include "ir/type.h"

namespace weft::onnx {

bool IsPacked(ir::DataType dtype);
// In a file: of the contents of a tensor of static type, whose elements have a fixed size.
size_t StoredBytes(ir::Type type);

std::vector<std::byte> Pack(ir::DataType dtype, std::span<const std::byte> elements);
// `elements` has as many entries as are wanted, and `packed` the bytes for them.
void Unpack(ir::DataType dtype, std::span<const std::byte> packed, std::span<std::byte> elements);

}  // namespace weft::onnx

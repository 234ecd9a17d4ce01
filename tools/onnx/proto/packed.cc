#include "tools/onnx/proto/packed.h"

#include <array>
#include <cstdint>

#include "ir/element/low_precision.h"

namespace weft::onnx {
namespace {

size_t PerByte(ir::DataType dtype) { return 8 / ir::ElementBits(dtype); }

size_t PackedBytes(ir::DataType dtype, size_t count) {
  return count / PerByte(dtype) + (count % PerByte(dtype) != 0);
}

}  // namespace

bool IsPacked(ir::DataType dtype) { return ir::ElementBits(dtype) % 8 != 0; }

size_t StoredBytes(ir::Type type) {
  const auto bytes = static_cast<size_t>(type.NumBytes());
  return IsPacked(type.dtype()) ? PackedBytes(type.dtype(), bytes) : bytes;
}

std::vector<std::byte> Pack(ir::DataType dtype, std::span<const std::byte> elements) {
  const size_t bits = ir::ElementBits(dtype), per_byte = PerByte(dtype);
  const std::byte mask{static_cast<uint8_t>((1u << bits) - 1)};
  std::vector<std::byte> packed(PackedBytes(dtype, elements.size()));
  for (size_t i = 0; i < elements.size(); ++i)
    packed[i / per_byte] |= (elements[i] & mask) << (bits * (i % per_byte));
  return packed;
}

void Unpack(ir::DataType dtype, std::span<const std::byte> packed, std::span<std::byte> elements) {
  const size_t bits = ir::ElementBits(dtype), per_byte = PerByte(dtype);
  std::array<std::byte, 16> element_of{};  // its bits
  for (size_t i = 0; i < size_t{1} << bits; ++i)
    element_of[i] = static_cast<std::byte>(ir::WrapToLowPrecision(dtype, i));
  const size_t mask = (size_t{1} << bits) - 1;
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] =
        element_of[static_cast<size_t>(packed[i / per_byte]) >> (bits * (i % per_byte)) & mask];
}

}  // namespace weft::onnx

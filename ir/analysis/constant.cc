#include "ir/analysis/constant.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/analysis/integer_element.h"
#include "ir/dialects/builtin.h"
#include "ir/element/low_precision.h"

namespace weft::ir {
namespace {

template <class T>
double Load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<double>(value);
}

double HalfToDouble(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const int mantissa = h & 1023;
  double value;
  if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else if (exponent == 31) {
    value = mantissa ? NAN : INFINITY;
  } else {
    value = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return h & 0x8000 ? -value : value;
}

}  // namespace

Attribute ConstantValue(Value value) {
  static const Name kParameter("parameter_name"), kValue("value");
  if (!value) return {};
  const Operation op = value.DefiningOp();
  if (!op) return {};
  if (op.Is<GetParameterOp>()) {
    const Attribute name = op.attrs().Get(kParameter);
    return name.Is(AttrKind::kString) ? op.program()->parameter(name.AsString()) : Attribute();
  }
  if (!op.HasTrait(kConstantLike)) return {};
  const Attribute dense = op.attrs().Get(kValue);
  return dense.Is(AttrKind::kDense) ? dense : Attribute();
}

Attribute Contents(Value value) {
  const Attribute dense = ConstantValue(value);
  return dense && !dense.IsElided() ? dense : Attribute();
}

double DenseElement(Attribute dense, int64_t i) {
  const std::byte* data = dense.bytes().data();
  const DataType dtype = dense.dense_type().dtype();
  switch (dtype) {
    case DataType::kF32:
      return Load<float>(data, i);
    case DataType::kF64:
      return Load<double>(data, i);
    case DataType::kI8:
      return Load<int8_t>(data, i);
    case DataType::kU8:
    case DataType::kBool:
      return Load<uint8_t>(data, i);
    case DataType::kI16:
      return Load<int16_t>(data, i);
    case DataType::kU16:
      return Load<uint16_t>(data, i);
    case DataType::kI32:
      return Load<int32_t>(data, i);
    case DataType::kU32:
      return Load<uint32_t>(data, i);
    case DataType::kI64:
      return Load<int64_t>(data, i);
    case DataType::kU64:
      return Load<uint64_t>(data, i);
    case DataType::kF16:
      return HalfToDouble(static_cast<uint16_t>(Load<uint16_t>(data, i)));
    case DataType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(data, i)) << 16);
    default:
      if (IsLowPrecision(dtype)) return FromLowPrecision(dtype, dense.elements<uint8_t>()[i]);
      return NAN;
  }
}

std::optional<Ints> ConstantInts(Value value) {
  const Operation op = value ? value.DefiningOp() : Operation();
  if (op && op.HasTrait(kConstantLike))
    if (const Attribute list = op.attr("value"); list.Is(AttrKind::kInts)) return list.AsInts();
  const Attribute dense = Contents(value);
  if (!dense || !IsInteger(dense.dense_type().dtype())) return std::nullopt;
  if (dense.dense_type().dtype() == DataType::kI64) {
    const auto elements = dense.elements<int64_t>();
    return Ints(elements.begin(), elements.end());
  }
  Ints result;
  for (int64_t i = 0; i < dense.dense_type().NumElements(); ++i) {
    const auto element = IntegerElement(dense, i);
    if (!element) return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

std::optional<std::vector<double>> ConstantDoubles(Value value, int64_t max_elements) {
  const Attribute dense = Contents(value);
  if (!dense || dense.dense_type().NumBytes() < 0) return std::nullopt;
  const int64_t n = dense.dense_type().NumElements();
  if (n > max_elements) return std::nullopt;
  std::vector<double> result;
  for (int64_t i = 0; i < n; ++i) result.push_back(DenseElement(dense, i));
  return result;
}

std::optional<double> ConstantSplat(Value value) {
  const Attribute dense = Contents(value);
  if (!dense) return std::nullopt;
  const size_t size = ElementSize(dense.dense_type().dtype());
  if (size == 0 || dense.num_bytes() < size) return std::nullopt;
  // All elements are equal iff the bytes repeat with the element's period.
  const auto repeat = [size](std::span<const std::byte> bytes) {
    return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  };
  alignas(16) std::array<std::byte, 256> first;
  if (!dense.IsInMemory() && dense.num_bytes() > first.size()) {  // which is enough as a rule
    dense.Read(0, first);
    if (!repeat(first)) return std::nullopt;
  }
  if (!repeat(dense.bytes())) return std::nullopt;
  return DenseElement(dense, 0);
}

}  // namespace weft::ir

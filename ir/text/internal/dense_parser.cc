// Contents of tensors: what ValueParser::ParseDense reads.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/element/low_precision.h"
#include "ir/text/internal/numbers.h"
#include "ir/text/internal/value_parser.h"

namespace weft::ir::text {
namespace {

bool IsBool(std::byte byte) { return byte <= std::byte{1}; }

// Whether each byte is an element, of a type whose elements are one byte and do not use all values of it.
bool AreElements(DataType dtype, std::span<const std::byte> bytes) {
  if (dtype == DataType::kBool) return std::all_of(bytes.begin(), bytes.end(), IsBool);
  return !IsLowPrecision(dtype) || AreLowPrecision(dtype, bytes);
}

template <class T>
NumberError AppendBytes(std::string_view text, std::vector<std::byte>* bytes) {
  T value{};
  const NumberError error = ParseNumber(text, &value);
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes->insert(bytes->end(), raw, raw + sizeof(T));
  return error;
}

NumberError AppendHalfBytes(DataType dtype, std::string_view text, std::vector<std::byte>* bytes) {
  if (uint64_t bits = 0; ParseNanBits(text, 4, &bits)) {
    for (int shift : {0, 8}) bytes->push_back(static_cast<std::byte>(bits >> shift & 255));
    return NumberError::kNone;
  }
  float value = 0;
  if (const auto error = ParseNumber(text, &value); error != NumberError::kNone) return error;
  const std::vector<std::byte> half = ElementBytes(dtype, value);
  const std::vector<std::byte> infinity = ElementBytes(dtype, std::copysign(INFINITY, value));
  bytes->insert(bytes->end(), half.begin(), half.end());
  return std::isfinite(value) && half == infinity ? NumberError::kOutOfRange : NumberError::kNone;
}

NumberError AppendLowPrecisionByte(DataType dtype, std::string_view text,
                                   std::vector<std::byte>* bytes) {
  uint64_t bits = 0;
  if (IsLowPrecisionInteger(dtype)) {
    int64_t value = 0;
    if (const auto error = ParseNumber(text, &value); error != NumberError::kNone) return error;
    bits = WrapToLowPrecision(dtype, static_cast<uint64_t>(value));
    if (FromLowPrecision(dtype, static_cast<uint8_t>(bits)) != static_cast<double>(value))
      return NumberError::kOutOfRange;
  } else if (ParseNanBits(text, 2, &bits)) {
    if (!std::isnan(FromLowPrecision(dtype, static_cast<uint8_t>(bits))))
      return NumberError::kMalformed;
  } else {
    float value = 0;  // which is what was printed
    if (const auto error = ParseNumber(text, &value); error != NumberError::kNone) return error;
    if (!RoundsToLowPrecision(dtype, value)) return NumberError::kOutOfRange;
    bits = ToLowPrecision(dtype, value, {.saturate = false, .rounding = ScaleRounding::kNearest});
  }
  bytes->push_back(static_cast<std::byte>(bits));
  return NumberError::kNone;
}

NumberError AppendRealBytes(DataType dtype, std::string_view text, std::vector<std::byte>* bytes) {
  switch (dtype) {
    case DataType::kF32:
    case DataType::kC64:
      return AppendBytes<float>(text, bytes);
    case DataType::kF64:
    case DataType::kC128:
      return AppendBytes<double>(text, bytes);
    case DataType::kF16:
    case DataType::kBF16:
      return AppendHalfBytes(dtype, text, bytes);
    case DataType::kBool:
      if (text == "true" || text == "false") text = text == "true" ? "1" : "0";
      if (const NumberError error = AppendBytes<uint8_t>(text, bytes); error != NumberError::kNone)
        return error;
      return IsBool(bytes->back()) ? NumberError::kNone : NumberError::kOutOfRange;
    case DataType::kU8:
      return AppendBytes<uint8_t>(text, bytes);
    case DataType::kI8:
      return AppendBytes<int8_t>(text, bytes);
    case DataType::kU16:
      return AppendBytes<uint16_t>(text, bytes);
    case DataType::kI16:
      return AppendBytes<int16_t>(text, bytes);
    case DataType::kU32:
      return AppendBytes<uint32_t>(text, bytes);
    case DataType::kI32:
      return AppendBytes<int32_t>(text, bytes);
    case DataType::kU64:
      return AppendBytes<uint64_t>(text, bytes);
    case DataType::kI64:
      return AppendBytes<int64_t>(text, bytes);
    default:
      return IsLowPrecision(dtype) ? AppendLowPrecisionByte(dtype, text, bytes)
                                   : NumberError::kMalformed;
  }
}

}  // namespace

bool ValueParser::ParseDense(Attribute* attr) {
  s_.Consume('<');
  const char* at = s_.position();
  Type type;
  if (!ParseType(&type)) return false;
  if (!type.IsTensor()) return s_.Fail(at, "dense contents want a tensor type");
  if (!s_.Expect(',', "after the type of dense contents")) return false;
  if (s_.ConsumeWord("elided")) {
    std::string_view label;
    if (!s_.String(&label)) return false;
    *attr = context_.ElidedDenseAttr(type, label);
  } else if (!type.IsStatic() || (type.NumBytes() < 0 && type.dtype() != DataType::kString)) {
    return s_.Fail(at, "dense contents want a type of known size");
  } else if (s_.Peek() == '[') {
    if (!ParseElements(type, attr)) return false;
  } else if (s_.ConsumeWord("hex")) {
    if (!ParseHex(type, attr)) return false;
  } else if (s_.ConsumeWord("file")) {
    if (!ParseSideFile(type, attr)) return false;
  } else {
    return s_.Fail("expected [, elided, hex or file but found " + s_.Found());
  }
  return s_.Expect('>', "after dense contents");
}

bool ValueParser::ParseElement(DataType dtype, std::vector<std::byte>* bytes) {
  const bool is_complex = dtype == DataType::kC64 || dtype == DataType::kC128;
  if (is_complex && !s_.Expect('(', "before a complex number")) return false;
  for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
    if (part > 0 && !s_.Expect(',', "between the parts of a complex number")) return false;
    const char* at = s_.position();
    const std::string_view text = s_.BareValue();
    if (text.empty()) return s_.Fail(at, "expected an element but found " + s_.Found());
    const NumberError error = AppendRealBytes(dtype, text, bytes);
    if (error != NumberError::kNone)
      return s_.Fail(at, NumberMessage(error, text, DataTypeLongName(dtype)));
  }
  return !is_complex || s_.Expect(')', "after a complex number");
}

bool ValueParser::ParseElements(Type type, Attribute* attr) {
  const char* at = s_.position();
  s_.Consume('[');
  const bool is_strings = type.dtype() == DataType::kString;
  std::vector<std::byte> bytes;
  Strings strings;
  int64_t count = 0;
  if (!s_.Consume(']')) {
    do {
      ++count;
      if (is_strings) {
        std::string_view text;
        if (!s_.String(&text)) return false;
        strings.emplace_back(text);
      } else if (!ParseElement(type.dtype(), &bytes)) {
        return false;
      }
    } while (s_.Consume(','));
    if (!s_.Expect(']', "after the elements of a tensor")) return false;
  }
  if (count != type.NumElements())
    return s_.Fail(at,
                   fmt::format("the type has {} elements but {} given", type.NumElements(), count));
  *attr = is_strings ? context_.DenseStringsAttr(type, strings) : context_.DenseAttr(type, bytes);
  return true;
}

bool ValueParser::ParseHex(Type type, Attribute* attr) {
  const char* at = s_.position();
  std::string_view digits;
  if (!s_.String(&digits)) return false;
  if (type.NumBytes() < 0 || digits.size() % 2 != 0 ||
      digits.size() / 2 != static_cast<size_t>(type.NumBytes()))
    return s_.Fail(at, fmt::format("{} hexadecimal digits are given but the type has {} bytes",
                                   digits.size(), type.NumBytes()));
  std::byte* bytes = nullptr;
  WeightBuffer buffer = IrContext::AllocateWeightBuffer(digits.size() / 2, &bytes);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const char* p = digits.data() + i;
    uint8_t value = 0;
    const auto result = std::from_chars(p, p + 2, value, 16);
    if (result.ptr != p + 2) {
      buffer.release();
      return s_.Fail(at, fmt::format("'{}' is not hexadecimal", digits.substr(i, 2)));
    }
    bytes[i / 2] = static_cast<std::byte>(value);
  }
  if (!AreElements(type.dtype(), {bytes, buffer.size})) {
    buffer.release();
    return s_.Fail(at, fmt::format("a byte is no {}", DataTypeName(type.dtype())));
  }
  *attr = context_.DenseAttrAdopt(type, std::move(buffer));
  return true;
}

bool ValueParser::ParseSideFile(Type type, Attribute* attr) {
  const char* at = s_.position();
  std::string_view name;
  uint64_t offset = 0, size = 0;
  if (!s_.String(&name)) return false;
  if (!s_.ConsumeWord("at")) return s_.Fail("expected 'at' but found " + s_.Found());
  if (!s_.Digits(&offset)) return false;
  if (!s_.ConsumeWord("size")) return s_.Fail("expected 'size' but found " + s_.Found());
  if (!s_.Digits(&size)) return false;
  if (type.NumBytes() < 0 || size != static_cast<uint64_t>(type.NumBytes()))
    return s_.Fail(
        at, fmt::format("the side file holds {} bytes but the type has {}", size, type.NumBytes()));
  if (offset % ElementSize(type.dtype()) != 0)
    return s_.Fail(at, fmt::format("offset {} is not aligned to the elements", offset));
  const auto bytes = side_files_.Read(std::string(name), offset, size);
  if (!bytes.ok()) return s_.Fail(at, std::string(Message(bytes.status())));
  if (!AreElements(type.dtype(), *bytes))
    return s_.Fail(at, fmt::format("a byte is no {}", DataTypeName(type.dtype())));
  *attr = context_.DenseAttrView(type, *bytes);
  return true;
}

}  // namespace weft::ir::text

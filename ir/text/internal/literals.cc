#include "ir/text/internal/literals.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/analysis/constant.h"
#include "ir/element/low_precision.h"

namespace weft::ir::text {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

template <class T>
void AppendNumber(std::string* out, T value) {
  char buffer[32];
  const char* end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

// Whether the digits are only digits, so that they would read back as an integer.
bool LooksLikeInt(const char* begin, const char* end) {
  for (const char* p = begin; p != end; ++p)
    if (!IsDigit(*p) && *p != '-') return false;
  return true;
}

template <class T>
void AppendReal(std::string* out, T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if (std::isnan(value)) {
    *out += "nan";
    const auto bits = std::bit_cast<Bits>(value);
    if (bits == std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN())) return;
    *out += "0x";
    AppendHex(out, bits, 2 * sizeof(T));
    return;
  }
  char buffer[32];
  const char* end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
  if (std::isfinite(value) && LooksLikeInt(buffer, end)) *out += ".0";
}

template <class T>
T Load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// float16 and bfloat16: every value is a float too, but for the bits of a NaN.
void AppendHalf(std::string* out, Attribute dense, int64_t i, uint16_t quiet_nan) {
  const double value = DenseElement(dense, i);
  const auto bits = Load<uint16_t>(dense.bytes().data(), i);
  if (std::isnan(value)) {
    *out += "nan";
    if (bits == quiet_nan) return;
    *out += "0x";
    AppendHex(out, bits, 4);
    return;
  }
  AppendReal(out, static_cast<float>(value));
}

// Every value is a float too, but for the bits of a NaN.
void AppendLowPrecision(std::string* out, Attribute dense, int64_t i) {
  const DataType dtype = dense.dense_type().dtype();
  const double value = DenseElement(dense, i);
  const auto element = Load<uint8_t>(dense.bytes().data(), i);
  if (std::isnan(value)) {
    *out += "nan";
    if (element == ToLowPrecision(dtype, NAN)) return;
    *out += "0x";
    AppendHex(out, element, 2);
  } else if (IsLowPrecisionInteger(dtype)) {
    AppendInt(out, static_cast<int64_t>(value));
  } else {
    AppendReal(out, static_cast<float>(value));
  }
}

template <class T>
void AppendComplex(std::string* out, const std::byte* data, int64_t i) {
  *out += '(';
  AppendReal(out, Load<T>(data, 2 * i));
  *out += ',';
  AppendReal(out, Load<T>(data, 2 * i + 1));
  *out += ')';
}

void AppendDim(std::string* out, int64_t dim) {
  if (IsSymbolicDim(dim)) {
    AppendQuoted(out, SymbolName(dim));
  } else {
    AppendInt(out, dim);
  }
}

}  // namespace

bool IsBareName(std::string_view text) {
  if (text.empty() || !IsWordStart(text[0])) return false;
  for (char c : text)
    if (!IsNameChar(c)) return false;
  return true;
}

bool IsCallToken(std::string_view text) {
  const size_t open = text.find('(');
  if (open == text.npos || text.back() != ')' || !IsBareName(text.substr(0, open))) return false;
  for (char c : text.substr(open + 1, text.size() - open - 2))
    if (!IsNameChar(c) && c != ':' && c != ',' && c != '-' && c != '+') return false;
  return true;
}

void AppendInt(std::string* out, int64_t value) { AppendNumber(out, value); }
void AppendUInt(std::string* out, uint64_t value) { AppendNumber(out, value); }

void AppendHex(std::string* out, uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) *out += kHexDigits[value >> (4 * i) & 15];
}

void AppendQuoted(std::string* out, std::string_view text) {
  *out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      *out += "\\x";
      AppendHex(out, static_cast<unsigned char>(c), 2);
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendName(std::string* out, std::string_view name) {
  if (IsBareName(name)) {
    *out += name;
  } else {
    AppendQuoted(out, name);
  }
}

void AppendFloat(std::string* out, float value) { AppendReal(out, value); }
void AppendDouble(std::string* out, double value) { AppendReal(out, value); }

void AppendType(std::string* out, Type type) {
  if (!type) {
    *out += "<<NULL TYPE>>";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kNone:
      *out += "none";
      return;
    case TypeKind::kOpaque:
      *out += "opaque<";
      AppendQuoted(out, type.text());
      *out += '>';
      return;
    case TypeKind::kSequence:
    case TypeKind::kOptional:
      *out += type.IsSequence() ? "seq<" : "optional<";
      AppendType(out, type.element());
      *out += '>';
      return;
    case TypeKind::kVector: {
      *out += "vec[";
      bool first = true;
      for (Type element : type.elements()) {
        if (!first) *out += ',';
        first = false;
        AppendType(out, element);
      }
      *out += ']';
      return;
    }
    case TypeKind::kTensor: {
      // Paddle's listings say this of the empty IntArray of a constant.
      const bool is_int_array =
          type.dtype() == DataType::kNull && type.rank() == 1 && type.dims()[0] == 0;
      *out += type.HasRank() ? "tensor<" : "tensor<*x";
      for (int64_t dim : type.dims()) {
        AppendDim(out, dim);
        *out += 'x';
      }
      *out += is_int_array ? "<<NULL TYPE>>" : DataTypeName(type.dtype());
      *out += '>';
    }
  }
}

void AppendElement(std::string* out, Attribute dense, int64_t i) {
  const std::byte* data = dense.bytes().data();
  switch (dense.dense_type().dtype()) {
    case DataType::kF32:
      return AppendFloat(out, Load<float>(data, i));
    case DataType::kF64:
      return AppendDouble(out, Load<double>(data, i));
    case DataType::kF16:
      return AppendHalf(out, dense, i, 0x7e00);
    case DataType::kBF16:
      return AppendHalf(out, dense, i, 0x7fc0);
    case DataType::kBool: {
      const auto byte = Load<uint8_t>(data, i);
      if (byte > 1) return AppendInt(out, byte);
      *out += byte ? "true" : "false";
      return;
    }
    case DataType::kI8:
      return AppendInt(out, Load<int8_t>(data, i));
    case DataType::kU8:
      return AppendInt(out, Load<uint8_t>(data, i));
    case DataType::kI16:
      return AppendInt(out, Load<int16_t>(data, i));
    case DataType::kU16:
      return AppendInt(out, Load<uint16_t>(data, i));
    case DataType::kI32:
      return AppendInt(out, Load<int32_t>(data, i));
    case DataType::kU32:
      return AppendInt(out, Load<uint32_t>(data, i));
    case DataType::kI64:
      return AppendInt(out, Load<int64_t>(data, i));
    case DataType::kU64:
      return AppendUInt(out, Load<uint64_t>(data, i));
    case DataType::kC64:
      return AppendComplex<float>(out, data, i);
    case DataType::kC128:
      return AppendComplex<double>(out, data, i);
    case DataType::kString:
      return AppendQuoted(out, dense.dense_strings()[static_cast<size_t>(i)]);
    case DataType::kNull:
      return;
    default:
      return AppendLowPrecision(out, dense, i);
  }
}

uint64_t HashBytes(std::span<const std::byte> bytes) {
  // Four independent multiply-rotate lanes, so that hundreds of megabytes take tens of ms.
  constexpr uint64_t kMul1 = 0x9e3779b185ebca87u, kMul2 = 0xc2b2ae3d27d4eb4fu;
  uint64_t lanes[4] = {kMul1 + kMul2, kMul2, 0, 0 - kMul1};
  auto mix = [](uint64_t lane, uint64_t word) {
    return std::rotl(lane + word * kMul2, 31) * kMul1;
  };
  const std::byte* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 32; left -= 32, p += 32)
    for (int i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], Load<uint64_t>(p, i));
  uint64_t hash = bytes.size();
  for (uint64_t lane : lanes) hash = (hash ^ mix(0, lane)) * kMul1 + kMul2;
  for (; left > 0; --left, ++p)
    hash = std::rotl(hash ^ (static_cast<uint64_t>(*p) * kMul1), 11) * kMul2;
  hash = (hash ^ (hash >> 33)) * kMul2;
  hash = (hash ^ (hash >> 29)) * kMul1;
  return hash ^ (hash >> 32);
}

}  // namespace weft::ir::text

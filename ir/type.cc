#include "ir/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/base/check.h"
#include "ir/dim/dim_expr.h"
#include "ir/name.h"

namespace weft::ir {
namespace {

struct DataTypeInfo {
  std::string_view name, long_name;
  size_t size;
};
constexpr std::array<DataTypeInfo, 27> kDataTypes = {{{"?", "undefined", 0},
                                                      {"f32", "float32", 4},
                                                      {"u8", "uint8", 1},
                                                      {"i8", "int8", 1},
                                                      {"u16", "uint16", 2},
                                                      {"i16", "int16", 2},
                                                      {"i32", "int32", 4},
                                                      {"i64", "int64", 8},
                                                      {"str", "string", 0},
                                                      {"bool", "bool", 1},
                                                      {"f16", "float16", 2},
                                                      {"f64", "float64", 8},
                                                      {"u32", "uint32", 4},
                                                      {"u64", "uint64", 8},
                                                      {"c64", "complex64", 8},
                                                      {"c128", "complex128", 16},
                                                      {"bf16", "bfloat16", 2},
                                                      {"f8e4m3fn", "float8e4m3fn", 1},
                                                      {"f8e4m3fnuz", "float8e4m3fnuz", 1},
                                                      {"f8e5m2", "float8e5m2", 1},
                                                      {"f8e5m2fnuz", "float8e5m2fnuz", 1},
                                                      {"u4", "uint4", 1},
                                                      {"i4", "int4", 1},
                                                      {"f4e2m1", "float4e2m1", 1},
                                                      {"f8e8m0", "float8e8m0", 1},
                                                      {"u2", "uint2", 1},
                                                      {"i2", "int2", 1}}};

// Plain identifiers print bare; anything else in quotes.
std::string DimText(int64_t dim) {
  if (dim >= 0) return fmt::format("{}", dim);
  if (dim == kUnknownDim) return "-1";
  std::string quoted = "\"";
  for (char c : SymbolName(dim)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 32) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

std::string_view DataTypeName(DataType type) { return kDataTypes[static_cast<size_t>(type)].name; }
std::string_view DataTypeLongName(DataType type) {
  return kDataTypes[static_cast<size_t>(type)].long_name;
}
size_t ElementSize(DataType type) { return kDataTypes[static_cast<size_t>(type)].size; }

size_t ElementBits(DataType type) {
  switch (type) {
    case DataType::kU4:
    case DataType::kI4:
    case DataType::kF4E2M1:
      return 4;
    case DataType::kU2:
    case DataType::kI2:
      return 2;
    default:
      return 8 * ElementSize(type);
  }
}

bool ParseDataType(std::string_view name, DataType* type) {
  for (size_t i = 0; i < kDataTypes.size(); ++i) {
    if (name != kDataTypes[i].name && name != kDataTypes[i].long_name) continue;
    *type = static_cast<DataType>(i);
    return true;
  }
  return false;
}

bool IsFloat(DataType type) {
  return type == DataType::kF32 || type == DataType::kF64 || type == DataType::kF16 ||
         type == DataType::kBF16;
}

bool IsInteger(DataType type) {
  switch (type) {
    case DataType::kU8:
    case DataType::kI8:
    case DataType::kU16:
    case DataType::kI16:
    case DataType::kI32:
    case DataType::kI64:
    case DataType::kU32:
    case DataType::kU64:
      return true;
    default:
      return false;
  }
}

bool IsLowPrecision(DataType type) { return type >= DataType::kF8E4M3FN; }
bool IsLowPrecisionInteger(DataType type) {
  return type == DataType::kU4 || type == DataType::kI4 || type == DataType::kU2 ||
         type == DataType::kI2;
}

int64_t SymbolicDim(std::string_view name) {
  if (const auto e = ParseDimExpr(name)) return e->ToDim();
  return -2 - static_cast<int64_t>(Name(name).id());
}
std::string_view SymbolName(int64_t dim) {
  WEFT_CHECK(IsSymbolicDim(dim), "not a symbolic dimension");
  return Name::FromId(static_cast<uint32_t>(-2 - dim)).str();
}

int64_t Type::NumElements() const {
  if (!IsStatic()) return -1;
  int64_t n = 1;
  for (int64_t d : dims()) n *= d;
  return n;
}

int64_t Type::NumBytes() const {
  const int64_t n = NumElements();
  if (n < 0 || ElementSize(dtype()) == 0) return -1;
  return n * static_cast<int64_t>(ElementSize(dtype()));
}

std::string Type::ToString() const {
  if (!storage_) return "none";
  switch (kind()) {
    case TypeKind::kNone:
      return "none";
    case TypeKind::kOpaque:
      return fmt::format("opaque<\"{}\">", storage_->text);
    case TypeKind::kSequence:
      return fmt::format("seq<{}>", element().ToString());
    case TypeKind::kOptional:
      return fmt::format("optional<{}>", element().ToString());
    case TypeKind::kVector: {
      std::string out = "vec[";
      for (size_t i = 0; i < elements().size(); ++i) {
        if (i) out += ',';
        out += elements()[i].ToString();
      }
      return out + "]";
    }
    case TypeKind::kTensor: {
      std::string out = "tensor<";
      if (!storage_->ranked) out += "*x";
      for (int64_t d : dims()) out += DimText(d) + "x";
      out += DataTypeName(dtype());
      return out + ">";
    }
  }
  return "none";
}

bool ProvablySameShape(Type a, Type b) {
  return a.HasRank() && b.HasRank() && std::ranges::equal(a.dims(), b.dims(), SameDim);
}

bool ProvablySameType(Type a, Type b) {
  return ProvablySameShape(a, b) && a.dtype() == b.dtype() && a.dtype() != DataType::kNull;
}

std::string ToString(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ',';
    out += dims[i] == kUnknownDim ? "?" : DimText(dims[i]);
  }
  return out + "]";
}

}  // namespace weft::ir

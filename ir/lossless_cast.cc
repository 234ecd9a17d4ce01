#include "ir/lossless_cast.h"

namespace weft::ir {
namespace {

// Value bits: of an integer those beside the sign, of a float its precision.
int ValueBits(DataType type) {
  switch (type) {
    case DataType::kBool:
      return 1;
    case DataType::kI8:
      return 7;
    case DataType::kU8:
    case DataType::kBF16:
      return 8;
    case DataType::kF16:
      return 11;
    case DataType::kI16:
      return 15;
    case DataType::kU16:
      return 16;
    case DataType::kF32:
      return 24;
    case DataType::kI32:
      return 31;
    case DataType::kU32:
      return 32;
    case DataType::kF64:
      return 53;
    case DataType::kI64:
      return 63;
    case DataType::kU64:
      return 64;
    default:
      return 0;  // no number
  }
}

int ExponentBits(DataType type) {
  return type == DataType::kF16 ? 5 : type == DataType::kF64 ? 11 : 8;
}

bool IsSigned(DataType type) {
  return type == DataType::kI8 || type == DataType::kI16 || type == DataType::kI32 ||
         type == DataType::kI64 || IsFloat(type);
}

}  // namespace

bool IsLosslessCast(DataType from, DataType to) {
  if (ValueBits(from) == 0 || ValueBits(to) == 0) return false;
  if (from == to || from == DataType::kBool) return true;
  if (to == DataType::kBool) return false;
  if (IsFloat(from))
    return IsFloat(to) && ValueBits(from) <= ValueBits(to) &&
           ExponentBits(from) <= ExponentBits(to);
  // Integers; f16 reaches 65504, more than any integer of at most 11 bits.
  return ValueBits(from) <= ValueBits(to) && (!IsSigned(from) || IsSigned(to));
}

bool CastsCompose(DataType from, DataType through, DataType to) {
  // Integers wrap: the low bits that are kept at last were kept before.
  if (IsInteger(from) && IsInteger(through) && IsInteger(to) &&
      ElementSize(to) <= ElementSize(through))
    return true;
  if (!IsLosslessCast(from, through) || ValueBits(to) == 0) return false;
  // A float that is out of an integer's range becomes whatever the conversion likes.
  const bool to_integer = IsInteger(to);
  if (!to_integer || from == DataType::kBool) return true;
  if (IsFloat(from)) return from == through;
  return !IsFloat(through) || IsLosslessCast(from, to);
}

}  // namespace weft::ir

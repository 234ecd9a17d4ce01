// Single values of the element types of at most 8 bits that are no C++ type: the 8-bit floats, f8e8m0
// (powers of two), f4e2m1, and integers of 4 and 2 bits. Each is held in one byte: a float as its
// bits, an integer as its value. The bytes of tensors in memory are such; files pack those of less
// than 8 bits.
//
//   ToLowPrecision(DataType::kF8E4M3FN, 500) == 0x7e;  // 448, the largest
//   FromLowPrecision(DataType::kF8E4M3FN, 0x7e) == 448;
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/type.h"

namespace weft::ir {

// How a number between two powers of two becomes an f8e8m0; nearest rounds halves up.
enum class ScaleRounding : uint8_t { kUp, kDown, kNearest };
constexpr std::array<std::string_view, 3> EnumNames(ScaleRounding) {
  return {"up", "down", "nearest"};
}

// What Cast of ONNX says of a number that the type lacks.
struct LowPrecisionRules {
  // An 8-bit float out of range is the nearest one in range; else infinity, or NaN where there is none.
  bool saturate = true;
  ScaleRounding rounding = ScaleRounding::kUp;
};

// Defined for IsLowPrecision(dtype). The bits of an element that the type does not have are ignored.
double FromLowPrecision(DataType dtype, uint8_t element);

// Rounds to nearest even. NaN is NaN with its sign, where the type has one, -0 for f4e2m1 (as ONNX's
// test data have it), and 0 for an integer. An f4e2m1 and an integer always saturate. Negative numbers
// and -0 are NaN for f8e8m0, which leaves them undefined.
uint8_t ToLowPrecision(DataType dtype, double value, LowPrecisionRules rules = {});

// Whether the float type has the number: NaN, an infinity, or one that rounds to a number in range.
bool RoundsToLowPrecision(DataType dtype, double value);

// The integer of the low bits of `value`: of a 4- or 2-bit type.
uint8_t WrapToLowPrecision(DataType dtype, uint64_t value);

// Whether each byte is an element: false for one that says more than the type has bits.
bool AreLowPrecision(DataType dtype, std::span<const std::byte> elements);

}  // namespace weft::ir

// Single values of the 16-bit float types: f16 (IEEE 754 binary16) and bf16 (the upper half of f32).
// To 16 bits rounds to nearest even, and NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::kernels {

inline float HalfToFloat(uint16_t half) {
  // Exponent and mantissa move into place; a multiplication rebiases, and makes denormals normal.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u | magnitude : 0;
  const uint32_t bits = special != 0 ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t result;
  if (magnitude > 0x7f800000) {
    result = 0x7e00 | (magnitude >> 13 & 0x1ff);
  } else if (magnitude >= 0x477ff000) {  // 65520, the first that rounds to infinity
    result = 0x7c00;
  } else if (magnitude <
             0x38800000) {  // below 2^-14: adding 2^-1 leaves the rounded denormal in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<uint32_t>(shifted) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  return static_cast<uint16_t>(sign | result);
}

inline float BFloat16ToFloat(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

inline uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace weft::kernels

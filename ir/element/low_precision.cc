#include "ir/element/low_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/base/check.h"

namespace weft::ir {
namespace {

constexpr uint8_t kNoCode = 0xff;
constexpr uint8_t kScaleNan = 0xff;
constexpr int kScaleBias = 127;

// A float with a sign, all but f8e8m0. Codes are those of positive numbers, without the sign bit.
struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  uint8_t largest;   // code of the largest number
  uint8_t infinity;  // kNoCode: there is none
  uint8_t nan;       // kNoCode: there is none
  bool one_zero;     // what would be -0 is the only NaN

  int sign_bit() const { return 1 << (exponent_bits + mantissa_bits); }
};
constexpr FloatFormat kE4M3FN = {4, 3, 7, 0x7e, kNoCode, 0x7f, false};
constexpr FloatFormat kE4M3FNUZ = {4, 3, 8, 0x7f, kNoCode, 0x80, true};
constexpr FloatFormat kE5M2 = {5, 2, 15, 0x7b, 0x7c, 0x7e, false};
constexpr FloatFormat kE5M2FNUZ = {5, 2, 16, 0x7f, kNoCode, 0x80, true};
constexpr FloatFormat kE2M1 = {2, 1, 1, 0x7, kNoCode, kNoCode, false};

const FloatFormat* FormatOf(DataType dtype) {
  switch (dtype) {
    case DataType::kF8E4M3FN:
      return &kE4M3FN;
    case DataType::kF8E4M3FNUZ:
      return &kE4M3FNUZ;
    case DataType::kF8E5M2:
      return &kE5M2;
    case DataType::kF8E5M2FNUZ:
      return &kE5M2FNUZ;
    case DataType::kF4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

double Decode(const FloatFormat& f, uint8_t bits) {
  if (f.one_zero && bits == f.nan) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = (bits & f.sign_bit()) != 0;
  const int code = bits & (f.sign_bit() - 1);
  double magnitude;
  if (code > f.largest) {
    magnitude = code == f.infinity ? INFINITY : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int exponent = code >> f.mantissa_bits;
    const int mantissa = code & ((1 << f.mantissa_bits) - 1);
    const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
    magnitude = std::ldexp(hidden + mantissa, std::max(exponent, 1) - f.bias - f.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

// The code of a number >= 0, rounded; what is too large gives largest + 1 or more.
int RoundedCode(const FloatFormat& f, double magnitude) {
  if (magnitude >= 0x1p64) return 1 << 16;
  const int lowest = 1 - f.bias;
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  // A mantissa with its hidden bit; rounding it up to the next power of two carries into the exponent.
  const double mantissa = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  return ((exponent - lowest) << f.mantissa_bits) + static_cast<int>(mantissa);
}

uint8_t Encode(const FloatFormat& f, double value, bool saturate) {
  const int sign = std::signbit(value) ? f.sign_bit() : 0;
  const auto nan = [&] { return static_cast<uint8_t>(f.one_zero ? f.nan : sign | f.nan); };
  if (std::isnan(value)) return f.nan == kNoCode ? static_cast<uint8_t>(f.sign_bit()) : nan();
  int code = RoundedCode(f, std::fabs(value));
  if (code > f.largest) {
    if (saturate || f.nan == kNoCode) {
      code = f.largest;
    } else if (f.infinity == kNoCode) {
      return nan();
    } else {
      code = f.infinity;
    }
  }
  if (code == 0 && f.one_zero) return 0;
  return static_cast<uint8_t>(sign | code);
}

uint8_t EncodeScale(double value, LowPrecisionRules rules) {
  constexpr double kLargest = 0x1p127, kSmallest = 0x1p-127;
  if (std::isnan(value) || std::signbit(value)) return kScaleNan;
  if (!rules.saturate && (value < kSmallest || value > kLargest)) return kScaleNan;
  if (value <= kSmallest) return 0;
  if (value >= kLargest) return kScaleNan - 1;
  int exponent = 0;
  const double fraction = 2 * std::frexp(value, &exponent);  // in [1, 2)
  const bool up = rules.rounding == ScaleRounding::kUp
                      ? fraction > 1
                      : rules.rounding == ScaleRounding::kNearest && fraction >= 1.5;
  return static_cast<uint8_t>(exponent - 1 + (up ? 1 : 0) + kScaleBias);
}

bool IsSigned(DataType dtype) { return dtype == DataType::kI4 || dtype == DataType::kI2; }

}  // namespace

double FromLowPrecision(DataType dtype, uint8_t element) {
  if (const FloatFormat* format = FormatOf(dtype)) return Decode(*format, element);
  if (dtype == DataType::kF8E8M0)
    return element == kScaleNan ? NAN : std::ldexp(1.0, element - kScaleBias);
  const uint8_t wrapped = WrapToLowPrecision(dtype, element);
  return IsSigned(dtype) ? static_cast<int8_t>(wrapped) : wrapped;
}

uint8_t ToLowPrecision(DataType dtype, double value, LowPrecisionRules rules) {
  if (const FloatFormat* format = FormatOf(dtype)) return Encode(*format, value, rules.saturate);
  if (dtype == DataType::kF8E8M0) return EncodeScale(value, rules);
  if (std::isnan(value)) return 0;
  const int values = 1 << ElementBits(dtype);
  const int lowest = IsSigned(dtype) ? -values / 2 : 0;
  const double clamped = std::clamp<double>(std::nearbyint(value), lowest, lowest + values - 1);
  return static_cast<uint8_t>(static_cast<int>(clamped));
}

bool RoundsToLowPrecision(DataType dtype, double value) {
  if (const FloatFormat* format = FormatOf(dtype)) {
    if (std::isnan(value)) return format->nan != kNoCode;
    if (std::isinf(value)) return format->infinity != kNoCode;
    return RoundedCode(*format, std::fabs(value)) <= format->largest;
  }
  return std::isnan(value) ||
         ToLowPrecision(dtype, value, {.saturate = false}) != ToLowPrecision(dtype, NAN);
}

uint8_t WrapToLowPrecision(DataType dtype, uint64_t value) {
  WEFT_CHECK(IsLowPrecision(dtype), "not a type of low precision");
  const unsigned bits = static_cast<unsigned>(ElementBits(dtype));
  const unsigned mask = (1u << bits) - 1, low = static_cast<unsigned>(value) & mask;
  const bool negative = IsSigned(dtype) && (low >> (bits - 1)) != 0;
  return static_cast<uint8_t>(negative ? low | ~mask : low);
}

bool AreLowPrecision(DataType dtype, std::span<const std::byte> elements) {
  return ElementBits(dtype) == 8 || std::ranges::all_of(elements, [&](std::byte b) {
           return WrapToLowPrecision(dtype, static_cast<uint8_t>(b)) == static_cast<uint8_t>(b);
         });
}

}  // namespace weft::ir

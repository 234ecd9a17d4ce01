// Numbers of the text form: the counterpart of AppendInt, AppendFloat and AppendElement.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "ir/text/internal/literals.h"

namespace weft::ir::text {

enum class NumberError : uint8_t { kNone, kMalformed, kOutOfRange };

inline NumberError FromChars(std::from_chars_result result, const char* end) {
  if (result.ec == std::errc::invalid_argument || result.ptr != end) return NumberError::kMalformed;
  return result.ec == std::errc() ? NumberError::kNone : NumberError::kOutOfRange;
}

// The whole of `text` as an integer that T can hold.
template <class T>
requires std::is_integral_v<T> NumberError ParseNumber(std::string_view text, T* value) {
  const char* end = text.data() + text.size();
  return FromChars(std::from_chars(text.data(), end, *value), end);
}

// "nan0x" and the bits, `digits` of them in hexadecimal.
inline bool ParseNanBits(std::string_view text, size_t digits, uint64_t* bits) {
  if (text.substr(0, 5) != "nan0x" || text.size() != 5 + digits) return false;
  const char* end = text.data() + text.size();
  return FromChars(std::from_chars(text.data() + 5, end, *bits, 16), end) == NumberError::kNone;
}

// The whole of `text` as a float or double, rounded to nearest.
template <class T>
requires std::is_floating_point_v<T> NumberError ParseNumber(std::string_view text, T* value) {
  using Limits = std::numeric_limits<T>;
  if (text == "inf" || text == "-inf") {
    *value = text[0] == '-' ? -Limits::infinity() : Limits::infinity();
    return NumberError::kNone;
  }
  if (text == "nan") {
    *value = Limits::quiet_NaN();
    return NumberError::kNone;
  }
  if (uint64_t bits = 0; ParseNanBits(text, 2 * sizeof(T), &bits)) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    *value = std::bit_cast<T>(static_cast<Bits>(bits));
    return std::isnan(*value) ? NumberError::kNone : NumberError::kMalformed;
  }
  const std::string_view digits = text.substr(text.substr(0, 1) == "-");
  if (digits.empty() || (!IsDigit(digits[0]) && digits[0] != '.')) return NumberError::kMalformed;
  const char* end = text.data() + text.size();
  return FromChars(std::from_chars(text.data(), end, *value), end);
}

// Why `text` is no number of the kind that `what` names.
inline std::string NumberMessage(NumberError error, std::string_view text, std::string_view what) {
  const std::string kind(what);
  if (error == NumberError::kOutOfRange) return std::string(text) + " is out of range for " + kind;
  return "'" + std::string(text) + "' is not " + kind;
}

}  // namespace weft::ir::text

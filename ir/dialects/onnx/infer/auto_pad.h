// How convolutions and pools pad.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::ir::ops {

// How convolutions and pools pad when `pads` is not given: the enumerators' names are ONNX's.
enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };
constexpr std::array<std::string_view, 4> EnumNames(AutoPad) {
  return {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
}

}  // namespace weft::ir::ops

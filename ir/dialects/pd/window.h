// The window that Paddle's convolutions and pools slide over height and width.
#pragma once

#include <array>
#include <string_view>

#include "ir/dialects/onnx/infer/window.h"
#include "ir/infer.h"

namespace weft::ir::pd {

enum class DataFormat : uint8_t { kNchw, kNhwc };
constexpr std::array<std::string_view, 2> EnumNames(DataFormat) { return {"NCHW", "NHWC"}; }

enum class PaddingAlgorithm : uint8_t { kExplicit, kSame, kValid };
constexpr std::array<std::string_view, 3> EnumNames(PaddingAlgorithm) {
  return {"EXPLICIT", "SAME", "VALID"};
}

size_t ChannelAxis(DataFormat format);
size_t HeightAxis(DataFormat format);  // the width follows it

ops::AutoPad ToAutoPad(PaddingAlgorithm algorithm);
// Paddle's [height, width] or [top, bottom, left, right] as begins, then ends.
bool ReadPaddings(InferContext& c, const Ints& paddings, Ints* pads);
// Replaces height and width in *dims by how often the window fits.
bool Slide(InferContext& c, const Window& window, DataFormat format, Shape* dims);

}  // namespace weft::ir::pd

#include "ir/dialects/pd/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::ir::pd {

size_t ChannelAxis(DataFormat format) { return format == DataFormat::kNchw ? 1 : 3; }
size_t HeightAxis(DataFormat format) { return format == DataFormat::kNchw ? 2 : 1; }

ops::AutoPad ToAutoPad(PaddingAlgorithm algorithm) {
  switch (algorithm) {
    case PaddingAlgorithm::kSame:
      return ops::AutoPad::kSameUpper;
    case PaddingAlgorithm::kValid:
      return ops::AutoPad::kValid;
    case PaddingAlgorithm::kExplicit:
      break;
  }
  return ops::AutoPad::kNotSet;
}

bool ReadPaddings(InferContext& c, const Ints& paddings, Ints* pads) {
  if (paddings.size() == 2) {
    *pads = {paddings[0], paddings[1], paddings[0], paddings[1]};
  } else if (paddings.size() == 4) {
    *pads = {paddings[0], paddings[2], paddings[1], paddings[3]};
  } else {
    return c.Fail(fmt::format("paddings has {} entries but needs 2 or 4", paddings.size()));
  }
  return true;
}

bool Slide(InferContext& c, const Window& window, DataFormat format, Shape* dims) {
  const size_t height = HeightAxis(format);
  Shape spatial;
  if (!WindowDims(c, std::span(*dims).subspan(height, 2), window, &spatial)) return false;
  std::copy(spatial.begin(), spatial.end(), dims->begin() + static_cast<std::ptrdiff_t>(height));
  return true;
}

}  // namespace weft::ir::pd

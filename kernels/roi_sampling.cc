#include "kernels/roi_sampling.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {
namespace {

constexpr double kMaxPoints = 1 << 16;  // along one axis of a bin

// The elements on either side of a place, and the part of the second one.
struct Neighbours {
  int64_t low, high;
  double part;

  Neighbours(double at, int64_t size) {
    at = std::clamp(at, 0.0, static_cast<double>(size - 1));
    low = static_cast<int64_t>(at);
    high = std::min(low + 1, size - 1);
    part = at - static_cast<double>(low);
  }
};

}  // namespace

RoiPoint::RoiPoint(double y, double x, int64_t height, int64_t width) {
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return;
  const Neighbours rows(y, height), columns(x, width);
  const int64_t at[4] = {rows.low * width + columns.low, rows.low * width + columns.high,
                         rows.high * width + columns.low, rows.high * width + columns.high};
  const double parts[4] = {(1 - rows.part) * (1 - columns.part), (1 - rows.part) * columns.part,
                           rows.part * (1 - columns.part), rows.part * columns.part};
  std::copy_n(at, 4, index);
  std::copy_n(parts, 4, weight);
}

absl::StatusOr<RoiSide> RoiSide::Make(const ir::ops::RoiAlign::Attrs<ir::Plain>& attrs,
                                      double start, double end, int64_t bins) {
  const bool half = attrs.coordinate_transformation_mode == ir::ops::RoiCoordinates::kHalfPixel;
  const double scale = attrs.spatial_scale, shift = half ? 0.5 : 0;
  double size = (end - start) * scale;
  if (!half) size = std::max(size, 1.0);
  const double bin = size / static_cast<double>(bins);
  const double points =
      attrs.sampling_ratio > 0 ? static_cast<double>(attrs.sampling_ratio) : std::ceil(bin);
  if (!std::isfinite(start * scale) || !(points <= kMaxPoints))
    return ir::InvalidArgument("a region is too large");
  return RoiSide{start * scale - shift, bin, static_cast<int64_t>(std::max(points, 0.0))};
}

std::pair<int64_t, int64_t> RoiBinRange(double start, double end, int64_t i, int64_t bins,
                                        int64_t size) {
  const double bin = std::max(end - start + 1, 1.0) / static_cast<double>(bins);
  const auto at = static_cast<double>(i), limit = static_cast<double>(size);
  const double first = std::clamp(std::floor(at * bin) + start, 0.0, limit);
  const double last = std::clamp(std::ceil((at + 1) * bin) + start, 0.0, limit);
  return {static_cast<int64_t>(first), static_cast<int64_t>(last)};
}

}  // namespace weft::kernels

// Where onnx.RoiAlign and onnx.MaxRoiPool read: a region is cut into bins. RoiAlign takes some points of each on each axis.
#pragma once

#include <cstdint>
#include <utility>

#include "ir/base/status.h"
#include "ir/dialects/onnx/nn/sampling.h"

namespace weft::kernels {

// A point of an image between up to four of its elements. What lies far outside has weights of 0, of element 0.
struct RoiPoint {
  int64_t index[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};

  RoiPoint(double y, double x, int64_t height, int64_t width);
};

// One axis of a region, cut into bins.
struct RoiSide {
  double start, bin;
  int64_t points;  // in a bin

  // InvalidArgument where the region is not finite or has too many points.
  static absl::StatusOr<RoiSide> Make(const ir::ops::RoiAlign::Attrs<ir::Plain>& attrs,
                                      double start, double end, int64_t bins);
  double At(int64_t i, int64_t point) const {
    return start + (static_cast<double>(i) +
                    (static_cast<double>(point) + 0.5) / static_cast<double>(points)) *
                       bin;
  }
};

// Of MaxRoiPool: the elements [first, last) of a dimension of `size` that bin i of `bins` holds, where the region has the
// elements from `start` to `end`, both included.
std::pair<int64_t, int64_t> RoiBinRange(double start, double end, int64_t i, int64_t bins,
                                        int64_t size);

}  // namespace weft::kernels

// Where the elements of an onnx.Resize come from. Interpolation is separable: one axis after another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/dialects/onnx/nn/image.h"

namespace weft::kernels {

// An element of x along an axis, and its part in an element of the result.
struct Tap {
  int64_t index;
  double weight;
};
// Of each element along an axis of the result. No taps stand for extrapolation_value.
using AxisTaps = std::vector<std::vector<Tap>>;

// What the operands of a Resize hold; empty where one is absent or empty.
struct ResizeOperands {
  std::vector<double> roi, scales, sizes;
};

// The axes of x, of which there are `rank`, that scales, sizes and roi are about: each in [0, rank), or
// InvalidArgument.
absl::StatusOr<ir::Ints> ResizedAxes(const ir::ops::Resize::Attrs<ir::Plain>& attrs, size_t rank);

// For x of sizes `in` and a result of sizes `out`, as many. InvalidArgument where operands are not of the length
// that the axes want, and where a scale or a roi is not usable.
absl::StatusOr<std::vector<AxisTaps>> ResizeTaps(const ir::ops::Resize::Attrs<ir::Plain>& attrs,
                                                 std::span<const int64_t> in,
                                                 std::span<const int64_t> out,
                                                 const ResizeOperands& operands);

}  // namespace weft::kernels

// What onnx.GridSample reads of an image at a place. Interpolation is separable: the weight of an element is the
// product of those along the axes.
#pragma once

#include <cstdint>

#include "ir/dialects/onnx/nn/sampling.h"

namespace weft::kernels {

// Elements along one axis; index -1 lies outside, where there are zeros. None at a place that is NaN.
struct GridTaps {
  int count = 0;
  int64_t index[4];
  double weight[4];  // never 0
};

// Along an axis of `size` elements, at least 1.
class GridAxis {
 public:
  GridAxis(const ir::ops::GridSample::Attrs<ir::Plain>& attrs, int64_t size);
  static int MostTaps(ir::ops::SampleMode mode);

  // At a place from -1 to 1.
  GridTaps At(double place) const;

 private:
  double Inside(double at) const;
  int64_t Index(double index) const;

  const ir::ops::SampleMode mode_;
  const ir::ops::SamplePadding padding_;
  const bool aligns_corners_;
  const double size_, low_, high_;  // the image lies between these
};

}  // namespace weft::kernels

// How far two results are apart.
#pragma once

#include "kernels/tensor.h"

namespace weft::kernels {

// The largest |actual - expected| over the largest |expected| of the tensor (over 1 when that is
// 0). Infinite when the types or shapes differ, or where one side is NaN or infinite and the other
// is not the same, or where strings are not equal. Integers and bools count as their values, and only
// equal ones differ by 0.
double RelativeDifference(const TensorView& actual, const TensorView& expected);

// How many elements are not the same, bit for bit: -0 is not 0, but every NaN is every other. All of
// the expected ones (at least 1) where the types or shapes differ.
int64_t CountDifferent(const TensorView& actual, const TensorView& expected);

// How far apart two quantised results are, in steps, which are 1 for integers: one step is a number
// that was rounded the other way. `largest` is infinite when the types or shapes differ, where one
// side is NaN or infinite and the other is not the same, and where a difference is no whole number
// of steps, but for what the precision of the floats explains.
struct StepDifference {
  double largest = 0;
  int64_t differing = 0, elements = 0;
  double share() const { return elements == 0 ? 0 : static_cast<double>(differing) / elements; }
  // Differences by rounding alone: one step, in at most one element of a thousand (or in one).
  bool IsRounding() const { return largest <= 1 && (differing <= 1 || share() <= 1e-3); }
  // One step where each of many ops may have rounded otherwise: in at most a quarter of the
  // elements, unless there are too few to tell.
  bool IsFew() const { return elements < 64 || share() <= 0.25; }
};
StepDifference CountSteps(const TensorView& actual, const TensorView& expected, double step = 1);

}  // namespace weft::kernels

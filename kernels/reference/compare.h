// How far two results are apart.
#pragma once

#include "kernels/tensor.h"

namespace weft::kernels {

// The largest |actual - expected| over the largest |expected| of the tensor (over 1 when that is
// 0). Infinite when the types or shapes differ, or where one side is NaN or infinite and the other
// is not the same. Integers and bools count as their values.
double RelativeDifference(const TensorView& actual, const TensorView& expected);

}  // namespace weft::kernels

// Floats as elements of any type.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {

// Floats outside an integer type, which ONNX leaves undefined, give its nearest value, and NaN 0.
template <class To>
To FromDouble(double value) {
  if constexpr (kIsFloat<To>) {
    return To(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr To kLowest = std::numeric_limits<To>::lowest(), kMax = std::numeric_limits<To>::max();
    if (value <= static_cast<double>(kLowest)) return kLowest;
    if (value >= static_cast<double>(kMax)) return kMax;
    return static_cast<To>(value);
  }
}

}  // namespace weft::kernels::reference

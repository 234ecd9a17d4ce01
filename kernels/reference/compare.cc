#include "kernels/reference/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/reference.h"

namespace weft::kernels {

double RelativeDifference(const TensorView& actual, const TensorView& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (actual.dtype != expected.dtype || !std::equal(actual.dims.begin(), actual.dims.end(),
                                                    expected.dims.begin(), expected.dims.end()))
    return kInfinity;
  const std::vector<double> a = reference::ReadDoubles(actual);
  const std::vector<double> e = reference::ReadDoubles(expected);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(e[i])) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) {
      if (a[i] != e[i]) return kInfinity;
      continue;
    }
    largest = std::max(largest, std::fabs(e[i]));
    difference = std::max(difference, std::fabs(a[i] - e[i]));
  }
  return difference / (largest > 0 ? largest : 1);
}

StepDifference CountSteps(const TensorView& actual, const TensorView& expected, double step) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  StepDifference steps;
  if (actual.dtype != expected.dtype || !std::ranges::equal(actual.dims, expected.dims)) {
    steps.largest = kInfinity;
    return steps;
  }
  const std::vector<double> a = reference::ReadDoubles(actual);
  const std::vector<double> e = reference::ReadDoubles(expected);
  steps.elements = static_cast<int64_t>(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]))) continue;
    const double apart = std::nearbyint(std::fabs(a[i] - e[i]) / step);
    steps.differing += !(apart == 0);
    steps.largest = std::isfinite(apart) ? std::max(steps.largest, apart) : kInfinity;
  }
  return steps;
}

}  // namespace weft::kernels

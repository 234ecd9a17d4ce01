#include "kernels/reference/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/reference.h"

namespace weft::kernels {
namespace {

// Also of 64-bit integers that are one double.
std::vector<double> Distances(const TensorView& actual, const TensorView& expected,
                              const std::vector<double>& a, const std::vector<double>& e) {
  std::vector<double> distances(a.size());
  for (size_t i = 0; i < a.size(); ++i) distances[i] = std::fabs(a[i] - e[i]);
  reference::VisitInteger(actual.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto x = actual.values<T>(), y = expected.values<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      distances[i] = static_cast<double>(static_cast<uint64_t>(std::max(x[i], y[i])) -
                                         static_cast<uint64_t>(std::min(x[i], y[i])));
    }
  });
  return distances;
}

// The parts of a step that the precision of two floats of that size may come to.
double Slack(ir::DataType dtype, double largest, double step) {
  const double precision = dtype == ir::DataType::kF16    ? 0x1p-10
                           : dtype == ir::DataType::kBF16 ? 0x1p-7
                                                          : 5e-6;
  return 1e-3 + precision * largest / step;
}

double LargestFinite(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

// How many of two tensors of strings of one shape.
int64_t CountDifferentStrings(const TensorView& actual, const TensorView& expected) {
  const std::span<std::string> a = actual.values<std::string>(), e = expected.values<std::string>();
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != e[i];
  return count;
}

}  // namespace

double RelativeDifference(const TensorView& actual, const TensorView& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (actual.dtype != expected.dtype || !std::equal(actual.dims.begin(), actual.dims.end(),
                                                    expected.dims.begin(), expected.dims.end()))
    return kInfinity;
  if (actual.dtype == ir::DataType::kString)
    return CountDifferentStrings(actual, expected) > 0 ? kInfinity : 0;
  const std::vector<double> a = reference::ReadDoubles(actual);
  const std::vector<double> e = reference::ReadDoubles(expected);
  const std::vector<double> distances = Distances(actual, expected, a, e);
  double difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(e[i])) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) {
      if (a[i] != e[i]) return kInfinity;
      continue;
    }
    difference = std::max(difference, distances[i]);
  }
  const double largest = LargestFinite(e);
  return difference / (largest > 0 ? largest : 1);
}

int64_t CountDifferent(const TensorView& actual, const TensorView& expected) {
  if (actual.dtype != expected.dtype || !std::ranges::equal(actual.dims, expected.dims))
    return std::max<int64_t>(1, expected.NumElements());
  if (actual.dtype == ir::DataType::kString) return CountDifferentStrings(actual, expected);
  const std::vector<double> a = reference::ReadDoubles(actual);
  const std::vector<double> e = reference::ReadDoubles(expected);
  const std::vector<double> distances = Distances(actual, expected, a, e);
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = (a[i] == e[i] && std::signbit(a[i]) == std::signbit(e[i])) ||
                      (std::isnan(a[i]) && std::isnan(e[i]));
    count += !same || distances[i] > 0;
  }
  return count;
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
  const double slack = Slack(actual.dtype, LargestFinite(e), step);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]))) continue;
    const double exact = std::fabs(a[i] - e[i]) / step, apart = std::nearbyint(exact);
    const bool is_whole = std::fabs(exact - apart) <= slack;  // not where it is NaN or infinite
    steps.differing += !is_whole || apart != 0;
    steps.largest = is_whole ? std::max(steps.largest, apart) : kInfinity;
  }
  return steps;
}

}  // namespace weft::kernels

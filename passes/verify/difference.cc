#include "passes/verify/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/analysis/constant.h"

namespace weft::passes {
namespace {

using ir::DataType;

Difference Incomparable() {
  const double infinite = std::numeric_limits<double>::infinity();
  return {infinite, infinite, infinite, infinite, 1, 1, false};
}

// The distance between numbers of the type around x; 1 for integers.
double UnitAt(DataType dtype, double x) {
  int exponent = 0, digits = 0, least = 0;
  switch (dtype) {
    case DataType::kF32:
      digits = 24, least = -149;
      break;
    case DataType::kF64:
      digits = 53, least = -1074;
      break;
    case DataType::kF16:
      digits = 11, least = -24;
      break;
    case DataType::kBF16:
      digits = 8, least = -133;
      break;
    default:
      return 1;
  }
  std::frexp(x, &exponent);
  return std::ldexp(1, x == 0 ? least : std::max(exponent - digits, least));
}

// Of the numbers that are finite.
double Largest(ir::Attribute dense) {
  double largest = 0;
  for (int64_t i = 0, n = dense.dense_type().NumElements(); i < n; ++i)
    if (const double x = ir::DenseElement(dense, i); std::isfinite(x))
      largest = std::max(largest, std::fabs(x));
  return largest;
}

}  // namespace

void Difference::Add(const Difference& other) {
  absolute = std::max(absolute, other.absolute);
  relative = std::max(relative, other.relative);
  ulps = std::max(ulps, other.ulps);
  sum_of_ulps += other.sum_of_ulps;
  elements += other.elements;
  differing += other.differing;
  same_bits &= other.same_bits;
}

Difference Compare(ir::Attribute expected, ir::Attribute actual) {
  const ir::Type type = expected.dense_type();
  if (!(type == actual.dense_type())) return Incomparable();
  Difference difference;
  difference.elements = type.NumElements();
  const double largest = Largest(expected);
  const size_t size = ir::ElementSize(type.dtype());
  for (int64_t i = 0; i < difference.elements; ++i) {
    const double x = ir::DenseElement(expected, i), y = ir::DenseElement(actual, i);
    const size_t at = static_cast<size_t>(i) * size;
    const bool same_bits =
        std::memcmp(expected.bytes().data() + at, actual.bytes().data() + at, size) == 0;
    if (same_bits || (std::isnan(x) && std::isnan(y))) continue;
    difference.same_bits = false;
    if (x == y && ir::IsFloat(type.dtype())) continue;
    ++difference.differing;
    double distance = std::fabs(x - y);
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    const double ulps = distance / UnitAt(type.dtype(), std::max(std::fabs(x), largest / 1024));
    difference.absolute = std::max(difference.absolute, distance);
    difference.ulps = std::max(difference.ulps, ulps);
    difference.sum_of_ulps += ulps;
  }
  difference.relative = difference.absolute / (largest > 0 ? largest : 1);
  return difference;
}

Difference CompareAll(const std::vector<ir::Attribute>& expected,
                      const std::vector<ir::Attribute>& actual) {
  if (expected.size() != actual.size()) return Incomparable();
  Difference all;
  for (size_t i = 0; i < expected.size(); ++i) all.Add(Compare(expected[i], actual[i]));
  return all;
}

bool IsQuantized(ir::Attribute dense) {
  const DataType dtype = dense.dense_type().dtype();
  return dtype == DataType::kI8 || dtype == DataType::kU8;
}

bool AreTies(const Difference& steps) {
  return steps.differing <= std::max<int64_t>(1, steps.elements / 8);
}

std::string WhyNotSame(const Results& results, double relative, Difference* steps,
                       std::span<const double> absolute) {
  if (results.before.size() != results.after.size()) return "another number of outputs";
  for (size_t i = 0; i < results.before.size(); ++i) {
    const ir::Attribute before = results.before[i];
    const Difference difference = Compare(before, results.after[i]);
    if (!ir::IsFloat(before.dense_type().dtype())) {
      if (IsQuantized(before) && difference.absolute <= 1)
        steps->Add(difference);
      else if (difference.differing > 0)
        return fmt::format("{} of {} elements differ", difference.differing, difference.elements);
      continue;
    }
    const bool is_near =
        difference.relative <= relative ||
        (!absolute.empty() && difference.absolute <= absolute[i] + relative * Largest(before));
    if (!is_near) return fmt::format("off by {:.3g} of the largest element", difference.relative);
  }
  return "";
}

void IgnoreUndefined(std::vector<ir::Attribute>* expected, std::vector<ir::Attribute>* actual) {
  for (size_t i = 0; i < std::min(expected->size(), actual->size()); ++i) {
    const ir::Type type = (*expected)[i].dense_type();
    if (!ir::IsFloat(type.dtype()) || !(type == (*actual)[i].dense_type())) continue;
    const auto count = static_cast<size_t>(type.NumElements());
    const size_t size = ir::ElementSize(type.dtype());
    std::vector<std::byte> x((*expected)[i].bytes().begin(), (*expected)[i].bytes().end());
    std::vector<std::byte> y((*actual)[i].bytes().begin(), (*actual)[i].bytes().end());
    for (size_t k = 0; k < count; ++k) {
      if (std::isfinite(ir::DenseElement((*expected)[i], static_cast<int64_t>(k)))) continue;
      std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(k * size), size, std::byte{0});
      std::fill_n(y.begin() + static_cast<std::ptrdiff_t>(k * size), size, std::byte{0});
    }
    (*expected)[i] = type.context()->DenseAttr(type, x);
    (*actual)[i] = type.context()->DenseAttr(type, y);
  }
}

}  // namespace weft::passes

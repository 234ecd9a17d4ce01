#include "unittests/conformance/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/reference/compare.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/value_type.h"
#include "kernels/strings_result.h"

namespace weft::conformance {
namespace {

using Complex = std::complex<double>;
using kernels::TensorView;

bool IsNan(double value) { return std::isnan(value); }
bool IsNan(const Complex& value) { return std::isnan(value.real()) || std::isnan(value.imag()); }

std::string Text(double value) { return fmt::format("{:.7g}", value); }
std::string Text(const Complex& value) {
  return fmt::format("{:.7g}{:+.7g}i", value.real(), value.imag());
}

template <class T>
requires std::is_integral_v<T> std::string Text(T value) { return fmt::format("{}", value); }

std::string Text(const std::string& value) { return kernels::QuotedText(value); }

template <class T>
bool Close(const T& actual, const T& expected, const Tolerance& tolerance) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
    return actual == expected;
  } else {
    if (actual == expected || (IsNan(actual) && IsNan(expected))) return true;
    const double difference = std::abs(actual - expected), size = std::abs(expected);
    return std::isfinite(size) && difference <= tolerance.absolute + tolerance.relative * size;
  }
}

bool HasTolerance(ir::DataType dtype) {
  return ir::IsFloat(dtype) || (ir::IsLowPrecision(dtype) && !ir::IsLowPrecisionInteger(dtype));
}

std::string IndexText(std::span<const int64_t> dims, size_t flat) {
  std::vector<int64_t> index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = static_cast<int64_t>(flat) % dims[axis];
    flat /= static_cast<size_t>(dims[axis]);
  }
  return ir::ToString(index);
}

template <class T>
std::string ValuesDiffer(const std::vector<T>& actual, const std::vector<T>& expected,
                         std::span<const int64_t> dims, const Tolerance& tolerance) {
  size_t count = 0, first = 0;
  for (size_t i = actual.size(); i-- > 0;) {
    if (Close(actual[i], expected[i], tolerance)) continue;
    ++count;
    first = i;
  }
  if (count == 0) return "";
  return fmt::format("{} of {} values differ, first at {}: {}, expected {}", count, actual.size(),
                     IndexText(dims, first), Text(actual[first]), Text(expected[first]));
}

// As they are: a double does not hold all integers.
template <class T>
std::vector<T> Read(const TensorView& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

template <class T>
std::vector<Complex> ReadComplex(const TensorView& tensor) {
  const auto values = tensor.values<std::complex<T>>();
  return {values.begin(), values.end()};
}

}  // namespace

std::string Difference(const TensorView& actual, const TensorView& expected,
                       const Tolerance& tolerance, bool values) {
  if (actual.dtype != expected.dtype)
    return fmt::format("element type {}, expected {}", ir::DataTypeName(actual.dtype),
                       ir::DataTypeName(expected.dtype));
  if (!std::ranges::equal(actual.dims, expected.dims))
    return fmt::format("shape {}, expected {}", ir::ToString(actual.dims),
                       ir::ToString(expected.dims));
  if (!values) return "";
  switch (actual.dtype) {
    case ir::DataType::kC64:
      return ValuesDiffer(ReadComplex<float>(actual), ReadComplex<float>(expected), actual.dims,
                          tolerance);
    case ir::DataType::kC128:
      return ValuesDiffer(ReadComplex<double>(actual), ReadComplex<double>(expected), actual.dims,
                          tolerance);
    case ir::DataType::kI64:
      return ValuesDiffer(Read<int64_t>(actual), Read<int64_t>(expected), actual.dims, tolerance);
    case ir::DataType::kU64:
      return ValuesDiffer(Read<uint64_t>(actual), Read<uint64_t>(expected), actual.dims, tolerance);
    case ir::DataType::kString:
      return ValuesDiffer(Read<std::string>(actual), Read<std::string>(expected), actual.dims,
                          tolerance);
    default:
      return ValuesDiffer(kernels::reference::ReadDoubles(actual),
                          kernels::reference::ReadDoubles(expected), actual.dims,
                          HasTolerance(actual.dtype) ? tolerance : Tolerance{0, 0});
  }
}

std::string Difference(const kernels::RuntimeValue& actual, const kernels::RuntimeValue& expected,
                       const Tolerance& tolerance, bool values) {
  if (actual.IsTensor() && expected.IsTensor())
    return Difference(actual.view, expected.view, tolerance, values);
  if (kernels::Describe(actual) != kernels::Describe(expected))
    return fmt::format("{}, expected {}", kernels::Describe(actual), kernels::Describe(expected));
  for (size_t i = 0; actual.IsSequence() && i < actual.sequence->size(); ++i) {
    const std::string difference = Difference((*actual.sequence)[i]->view(),
                                              (*expected.sequence)[i]->view(), tolerance, values);
    if (!difference.empty()) return fmt::format("element {}: {}", i, difference);
  }
  return "";
}

std::string OffByOneStep(const kernels::RuntimeValue& actual, const kernels::RuntimeValue& expected,
                         double step) {
  if (!actual.IsTensor() || !expected.IsTensor()) return "";
  const kernels::StepDifference steps = kernels::CountSteps(actual.view, expected.view, step);
  if (steps.largest != 1 || !steps.IsFew()) return "";
  return fmt::format("1 step of {:.3g} off in {} of {} values ({:.3g} %)", step, steps.differing,
                     steps.elements, 100 * steps.share());
}

}  // namespace weft::conformance

#include "tools/ir_run/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/rounding_step.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/value_type.h"
#include "tools/cli/exit_code.h"

namespace weft::tools {
namespace {

using kernels::RuntimeValue;

absl::StatusOr<double> TensorDifference(const std::string& name, const kernels::TensorView& actual,
                                        const kernels::TensorView& expected) {
  if (actual.dtype != expected.dtype || !std::ranges::equal(actual.dims, expected.dims))
    return CheckFailed(fmt::format("{} is {}, expected {}", name, kernels::Describe({actual}),
                                   kernels::Describe({expected})));
  const std::vector<double> values = kernels::reference::ReadDoubles(expected);
  const bool any_finite =
      std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (!any_finite && !values.empty())
    return CheckFailed(
        fmt::format("{}: no expected element is finite, so nothing is compared", name));
  return kernels::RelativeDifference(actual, expected);
}

// Relative to the largest expected element.
absl::StatusOr<double> Difference(const std::string& name, const RuntimeValue& actual,
                                  const RuntimeValue& expected) {
  const std::string subject = fmt::format("output '{}'", name);
  if (actual.IsTensor() && expected.IsTensor())
    return TensorDifference(subject, actual.view, expected.view);
  if (kernels::Describe(actual) != kernels::Describe(expected))
    return CheckFailed(fmt::format("{} is {}, expected {}", subject, kernels::Describe(actual),
                                   kernels::Describe(expected)));
  double largest = 0;
  for (size_t i = 0; actual.IsSequence() && i < actual.sequence->size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(
        const double difference,
        TensorDifference(fmt::format("{}, element {}", subject, i), (*actual.sequence)[i]->view(),
                         (*expected.sequence)[i]->view()));
    largest = std::max(largest, difference);
  }
  return largest;
}

bool IsExact(ir::DataType dtype) {
  return dtype == ir::DataType::kBool || ir::IsInteger(dtype) || ir::IsLowPrecisionInteger(dtype);
}

}  // namespace

std::vector<std::optional<double>> OutputSteps(ir::Program& program) {
  std::vector<std::optional<double>> steps;
  for (const ir::Value output : program.body().Terminator().operands())
    steps.push_back(ir::RoundingStep(output));
  return steps;
}

std::string Comparison::Text(const std::string& with) const {
  if (!steps)
    return fmt::format("differs from {} by {:.3g} of its largest element{}", with, relative,
                       agrees ? "" : ", too much");
  return fmt::format(
      "differs from {} by {} step{} of {:.3g} at most, in {} of {} elements ({:.3g} %); {}", with,
      steps->largest, steps->largest == 1 ? "" : "s", *step, steps->differing, steps->elements,
      100 * steps->share(), agrees ? "one step is rounding" : "more than one step, too much");
}

absl::StatusOr<Comparison> Compare(const std::string& name, const RuntimeValue& actual,
                                   const RuntimeValue& expected, const Allowed& allowed) {
  Comparison comparison;
  WEFT_ASSIGN_OR_RETURN(comparison.relative, Difference(name, actual, expected));
  if (allowed.step && !allowed.tolerance && expected.IsTensor()) {
    comparison.step = allowed.step;
    comparison.steps = kernels::CountSteps(actual.view, expected.view, *allowed.step);
    comparison.agrees = comparison.steps->largest <= 1;
  } else {
    comparison.agrees = comparison.relative <= AllowedDifference(expected, allowed.tolerance);
  }
  return comparison;
}

double AllowedDifference(const RuntimeValue& output, std::optional<double> tolerance) {
  if (tolerance) return *tolerance;
  ir::DataType dtype = ir::DataType::kF32;
  if (output.IsTensor()) dtype = output.view.dtype;
  if (output.IsSequence() && !output.sequence->empty()) dtype = output.sequence->front()->dtype();
  if (IsExact(dtype)) return 0;
  return dtype == ir::DataType::kF16 ? 0x1p-10 : dtype == ir::DataType::kBF16 ? 0x1p-7 : 5e-6;
}

}  // namespace weft::tools

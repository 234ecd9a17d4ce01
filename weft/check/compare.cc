#include "weft/check/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ir/analysis/rounding_step.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/value_type.h"
#include "weft/base/check_failed.h"

namespace weft {
namespace {

using kernels::RuntimeValue;

// Called for each tensor of two outputs of one kind and type.
using Visit =
    std::function<absl::Status(const std::string& subject, const kernels::TensorView& actual,
                               const kernels::TensorView& expected)>;

absl::Status VisitTensor(const std::string& name, const kernels::TensorView& actual,
                         const kernels::TensorView& expected, const Visit& visit) {
  if (actual.dtype != expected.dtype || !std::ranges::equal(actual.dims, expected.dims))
    return CheckFailed(fmt::format("{} is {}, expected {}", name, kernels::Describe({actual}),
                                   kernels::Describe({expected})));
  return visit(name, actual, expected);
}

absl::Status VisitTensors(const std::string& name, const RuntimeValue& actual,
                          const RuntimeValue& expected, const Visit& visit) {
  const std::string subject = fmt::format("output '{}'", name);
  if (actual.IsTensor() && expected.IsTensor())
    return VisitTensor(subject, actual.view, expected.view, visit);
  if (kernels::Describe(actual) != kernels::Describe(expected))
    return CheckFailed(fmt::format("{} is {}, expected {}", subject, kernels::Describe(actual),
                                   kernels::Describe(expected)));
  for (size_t i = 0; actual.IsSequence() && i < actual.sequence->size(); ++i)
    WEFT_RETURN_IF_ERROR(VisitTensor(fmt::format("{}, element {}", subject, i),
                                     (*actual.sequence)[i]->view(), (*expected.sequence)[i]->view(),
                                     visit));
  return absl::OkStatus();
}

bool AnyFinite(const kernels::TensorView& tensor) {
  const std::vector<double> values = kernels::reference::ReadDoubles(tensor);
  return values.empty() ||
         std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

bool IsExact(ir::DataType dtype) {
  return dtype == ir::DataType::kBool || ir::IsInteger(dtype) || ir::IsLowPrecisionInteger(dtype);
}

bool IsText(const RuntimeValue& output) {
  if (output.IsSequence())
    return !output.sequence->empty() && output.sequence->front()->dtype() == ir::DataType::kString;
  return output.IsTensor() && output.view.dtype == ir::DataType::kString;
}

// What an output may differ by that no step decides on.
double AllowedDifference(const RuntimeValue& output, std::optional<double> tolerance) {
  if (tolerance) return *tolerance;
  ir::DataType dtype = ir::DataType::kF32;
  if (output.IsTensor()) dtype = output.view.dtype;
  if (output.IsSequence() && !output.sequence->empty()) dtype = output.sequence->front()->dtype();
  if (IsExact(dtype)) return 0;
  return dtype == ir::DataType::kF16 ? 0x1p-10 : dtype == ir::DataType::kBF16 ? 0x1p-7 : 5e-6;
}

// What is wrong with them; empty when nothing is.
std::string StepsFault(const kernels::StepDifference& steps) {
  if (std::isinf(steps.largest)) return "no whole number of steps";
  if (steps.largest > 1) return "more than one step";
  return steps.IsFew() ? "" : "a step in more than a quarter of the elements";
}

}  // namespace

std::vector<std::optional<double>> OutputSteps(ir::Program& program) {
  std::vector<std::optional<double>> steps;
  for (const ir::Value output : program.body().Terminator().operands())
    steps.push_back(ir::RoundingStep(output));
  return steps;
}

std::string Comparison::Text(const std::string& with) const {
  if (text)
    return agrees ? "is equal to " + with
                  : fmt::format("differs from {} in {} string{}", with, different,
                                different == 1 ? "" : "s");
  if (exact && agrees) return fmt::format("is what {} is, bit for bit", with);
  if (exact)
    return fmt::format(
        "differs from {} in {} element{}, by {:.3g} of its largest element, too much", with,
        different, different == 1 ? "" : "s", relative);
  if (!steps)
    return fmt::format("differs from {} by {:.3g} of its largest element{}", with, relative,
                       agrees ? "" : ", too much");
  const std::string where = fmt::format("in {} of {} elements ({:.3g} %)", steps->differing,
                                        steps->elements, 100 * steps->share());
  if (std::isinf(steps->largest))
    return fmt::format("differs from {} by no whole number of steps of {:.3g}, {}, too much", with,
                       *step, where);
  const char* verdict = steps->largest > 1 ? "more than one step, too much"
                        : agrees           ? "one step is rounding"
                                           : "more than a quarter of the elements, too much";
  return fmt::format("differs from {} by {} step{} of {:.3g} at most, {}; {}", with, steps->largest,
                     steps->largest == 1 ? "" : "s", *step, where, verdict);
}

void Disagreement::Add(const Comparison& comparison) {
  if (comparison.agrees) return;
  empty_ = false;
  if (comparison.text) {
    text_ = true;
    return;
  }
  exact_ |= comparison.exact;
  if (comparison.steps) {
    if (steps_.empty()) steps_ = StepsFault(*comparison.steps);
    return;
  }
  relative_ = std::max(relative_, comparison.relative);
  allowed_ = std::max(allowed_, comparison.allowed);
}

std::string Disagreement::Text() const {
  if (text_) return "differ in strings";
  if (exact_) return fmt::format("differ by {:.3g}, not bit for bit the same", relative_);
  if (!steps_.empty()) return "differ by " + steps_;
  return fmt::format("differ by {:.3g}, allowed are {:.3g}", relative_, allowed_);
}

absl::StatusOr<Comparison> Compare(const std::string& name, const RuntimeValue& actual,
                                   const RuntimeValue& expected, const Allowed& allowed) {
  Comparison comparison{.exact = allowed.exact || IsText(expected), .text = IsText(expected)};
  WEFT_RETURN_IF_ERROR(VisitTensors(
      name, actual, expected,
      [&](const std::string& subject, const kernels::TensorView& a, const kernels::TensorView& e) {
        if (!comparison.exact && !AnyFinite(e))
          return CheckFailed(subject + ": no expected element is finite, so nothing is compared");
        comparison.relative = std::max(comparison.relative, kernels::RelativeDifference(a, e));
        if (comparison.exact) comparison.different += kernels::CountDifferent(a, e);
        return absl::OkStatus();
      }));
  if (comparison.exact) {
    comparison.agrees = comparison.different == 0;
    return comparison;
  }
  comparison.allowed = AllowedDifference(expected, allowed.tolerance);
  if (allowed.step && !allowed.tolerance && expected.IsTensor()) {
    comparison.step = allowed.step;
    comparison.steps = kernels::CountSteps(actual.view, expected.view, *allowed.step);
    comparison.agrees = StepsFault(*comparison.steps).empty();
  } else {
    comparison.agrees = comparison.relative <= comparison.allowed;
  }
  return comparison;
}

}  // namespace weft

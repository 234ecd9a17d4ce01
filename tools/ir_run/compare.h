// Comparing outputs of two runs: relative to the largest element, or, of outputs that were rounded to
// a scale of quantisation, in steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/reference/compare.h"
#include "kernels/runtime_value.h"

namespace weft::tools {

// RoundingStep (ir/analysis/rounding_step.h) of each output of the program.
std::vector<std::optional<double>> OutputSteps(ir::Program& program);

struct Allowed {
  std::optional<double> step;       // one is allowed, unless there is a
  std::optional<double> tolerance;  // of the largest expected element
};

struct Comparison {
  bool agrees = false;
  double relative = 0;                           // |difference| / largest expected element
  std::optional<kernels::StepDifference> steps;  // instead, where they decide
  std::optional<double> step;

  // "differs from WITH by ..."
  std::string Text(const std::string& with) const;
};

// Of a sequence's tensors the largest difference. Without a tolerance, integers and bools must be
// equal, f32 may differ by 5e-6, f16 and bf16 by a rounding. CheckFailed when kind, type, shape or
// length differ, or when nothing that is expected is finite, so that nothing is compared.
absl::StatusOr<Comparison> Compare(const std::string& name, const kernels::RuntimeValue& actual,
                                   const kernels::RuntimeValue& expected, const Allowed& allowed);

// What an output may differ by that no step decides on.
double AllowedDifference(const kernels::RuntimeValue& output, std::optional<double> tolerance);

}  // namespace weft::tools

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

namespace weft {

// RoundingStep (ir/analysis/rounding_step.h) of each output of the program.
std::vector<std::optional<double>> OutputSteps(ir::Program& program);

struct Allowed {
  std::optional<double> step;       // one is allowed, unless there is a
  std::optional<double> tolerance;  // of the largest expected element
  bool exact = false;               // instead of both: nothing, bit for bit
};

struct Comparison {
  bool agrees = false;
  double relative = 0;                           // |difference| / largest expected element
  double allowed = 0;                            // of that
  std::optional<kernels::StepDifference> steps;  // instead, where they decide
  std::optional<double> step;
  bool exact = false;     // compared bit for bit
  int64_t different = 0;  // elements, then
  bool text = false;      // strings, which are equal or not

  // "differs from WITH by ..."
  std::string Text(const std::string& with) const;
};

// Why outputs do not agree, of all that were compared: those in steps, or by how much the others
// differ. Nothing of outputs that agree.
class Disagreement {
 public:
  void Add(const Comparison& comparison);
  bool empty() const { return empty_; }
  // "differ by more than one step", "differ by 1e-06, allowed are 0"
  std::string Text() const;

 private:
  bool empty_ = true, exact_ = false, text_ = false;
  std::string steps_;
  double relative_ = 0, allowed_ = 0;
};

// Of a sequence's tensors the largest difference. Strings must be equal. Without a tolerance, integers and bools must be
// equal, f32 may differ by 5e-6, f16 and bf16 by a rounding, and those with a step by one, if not in
// more than a quarter of many elements. CheckFailed when kind, type, shape or
// length differ, or when nothing that is expected is finite, so that nothing is compared; bit for bit
// that is compared, too.
absl::StatusOr<Comparison> Compare(const std::string& name, const kernels::RuntimeValue& actual,
                                   const kernels::RuntimeValue& expected, const Allowed& allowed);

}  // namespace weft

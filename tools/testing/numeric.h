// Numeric tests of rules and pipelines: a program runs before and after on random inputs, on
// reference kernels and on those a session picks, and its outputs must agree.
//
//   EXPECT_TRUE(RuleKeepsNumbers(*program, "compose-transposes"));
//   EXPECT_TRUE(PipelineKeepsNumbers(*program, "fuse", {.seeds = 5}));
//
// Exact rules must keep every bit. For the others the tolerance follows from the element type and
// the lengths of the program's reductions: a difference in rounding passes, a wrong rewrite does
// not. Inputs differ from each other and from seed to seed; outputs that are all zero or not
// finite fail the test, because they would agree whatever the rule did.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "drr/drr.h"
#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/tensor.h"

namespace weft::fixtures {

struct NumericOptions {
  int seeds = 3;
  std::vector<std::string> providers = {"reference", "auto"};
  std::optional<double> tolerance = {};  // of the largest output; 0: every bit
};

// `before` and `after` have the same inputs and outputs. Symbolic dims get small sizes.
::testing::AssertionResult SameNumbers(ir::Program& before, ir::Program& after,
                                       const NumericOptions& options = {});

// Applies a registered rule, which must fire, to a copy of the program. Tolerance 0 for an exact
// rule.
::testing::AssertionResult RuleKeepsNumbers(ir::Program& program, const std::string& rule,
                                            NumericOptions options = {});
// Or one that is not registered: RuleKeepsNumbers(*program, MyRule().Build(&context)).
::testing::AssertionResult RuleKeepsNumbers(ir::Program& program, drr::BuildResult rule,
                                            NumericOptions options = {});
// Runs a named pipeline on a copy of the program.
::testing::AssertionResult PipelineKeepsNumbers(ir::Program& program, const std::string& pipeline,
                                                const NumericOptions& options = {});

// How far apart two results may be by rounding alone, relative to the largest element: a few units
// in the last place, and as many more as a random walk over all reductions of the program makes.
double RoundingTolerance(ir::Program& program);

// One tensor per input, the same for the same seed. Symbolic and unknown dims get small sizes, a
// symbol the same one everywhere.
absl::StatusOr<std::vector<kernels::Tensor>> SmallRandomInputs(ir::Program& program, uint64_t seed);

// Gives elided constants and parameters random contents, in place: floats in [-1, 1), or in
// [0.5, 1.5) where the label says "positive".
absl::Status FillElidedConstants(ir::Program& program, uint64_t seed);

}  // namespace weft::fixtures

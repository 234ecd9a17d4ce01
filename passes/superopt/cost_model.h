// What a program costs: the sum of what its operations cost, by a model. The tools bring one that
// measures kernels; the analytic one here is a guess that is the same on every machine.
#pragma once

#include <string_view>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {

class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual std::string_view name() const = 0;  // "measured"
  // Seconds that `op`, whose types are static, takes in one run; an error when that is not known.
  virtual absl::StatusOr<double> Seconds(ir::Operation op) = 0;
};

// Arithmetic and memory traffic at fixed rates, and a fixed time for each operation.
class AnalyticCostModel final : public CostModel {
 public:
  std::string_view name() const override { return "analytic"; }
  absl::StatusOr<double> Seconds(ir::Operation op) override;
};

// The sum over all operations, those in regions included. With `folds`, what depends on constants
// alone costs nothing: constant folding computes it before the program runs.
absl::StatusOr<double> ProgramCost(ir::Program& program, CostModel& model, bool folds);

}  // namespace weft::passes

// A cost model that runs kernels: what an operation costs is the shortest of several runs of the
// kernels that a session with one thread would use, on random inputs, or on ones where it refuses
// those; what refuses both costs what the analytic model says. Every operation is measured once; those
// of one kind, with equal attributes, types and small constants, share the figure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "passes/superopt/cost_model.h"

namespace weft {

class MeasuredCostModel final : public passes::CostModel {
 public:
  std::string_view name() const override { return "measured"; }
  absl::StatusOr<double> Seconds(ir::Operation op) override;
  size_t measured() const { return known_.size(); }

 private:
  std::map<std::vector<uint64_t>, double> known_;
};

}  // namespace weft

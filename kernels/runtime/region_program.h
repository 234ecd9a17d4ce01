// A region that runs as a program of its own: its arguments are inputs, what it returns are outputs.
// Plans are made when it first runs, and kept per types of its inputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "kernels/kernel.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/plan_cache.h"

namespace weft::kernels {

class RegionProgram {
 public:
  // Region `number` of the context's op, which is isolated (kernels/runtime/isolate.h). Operands that
  // were captured and are constants are constants in it.
  static absl::StatusOr<std::unique_ptr<RegionProgram>> Create(const KernelContext& context,
                                                               uint32_t number);
  ~RegionProgram();

  size_t num_arguments() const { return argument_types_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  ir::Type argument_type(size_t i) const { return argument_types_[i]; }

  // One input per argument. What *outputs holds from the run before is overwritten where nobody else
  // owns it and its shape fits; an output that is an argument shares its memory.
  absl::Status Run(std::span<const RuntimeValue> inputs, std::vector<RuntimeValue>* outputs);
  // Of the outputs for inputs of the types of these, as far as they are known without a run.
  absl::StatusOr<std::vector<ir::Type>> OutputTypes(std::span<const RuntimeValue> inputs) const;

  static constexpr size_t kMaxPlans = 8;
  // Of more plans: a loop that grows what it carries meets as many types as it has iterations, in each run again.
  static constexpr size_t kMorePlansBytes = size_t{64} << 20;

 private:
  struct Output {
    int argument = -1;  // that it is
    size_t result = 0;  // of the program, when it is none
  };

  RegionProgram() = default;
  std::vector<std::pair<std::string, ir::Value>> CopyRegion(ir::Region region,
                                                            std::span<const ir::Attribute> known);
  absl::StatusOr<std::unique_ptr<ir::Program>> Specialized(std::span<const ir::Type> inputs,
                                                           PackedWeights& own) const;
  absl::StatusOr<PreparedProgram*> Prepare(std::span<const RuntimeValue> inputs);
  absl::Status RunSegments(Segment& first, std::vector<RuntimeValue>* outputs) const;
  absl::Status RunPlan(Plan& plan, std::vector<RuntimeValue>* outputs);

  std::vector<std::string> providers_;
  PlanResources resources_;
  std::string op_name_;
  std::unique_ptr<ir::Program> program_;
  std::vector<ir::Type> argument_types_;
  std::vector<size_t> inputs_;  // of the program: numbers of arguments
  std::vector<Output> outputs_;
  PlanCache prepared_{kMaxPlans, kMorePlansBytes};
  std::vector<RuntimeValue> input_values_;  // of a run, without owners
  std::vector<TensorView> input_views_;     // likewise, of a plan
};

}  // namespace weft::kernels

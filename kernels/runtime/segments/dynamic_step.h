// An op that runs between two plans, on a kernel that sizes its results.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/kernel.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/segments/program_cut.h"

namespace weft::kernels {

class DynamicStep {
 public:
  // `op` is one of `cut`, whose numbers its operands keep. Unsupported where no kernel runs it.
  static absl::StatusOr<DynamicStep> Create(const ProgramCut& cut, ir::Operation op,
                                            const PlanResources& resources);

  // `values` by the numbers of the cut, as far as they are known. InvalidArgument for a result that
  // the program's type of it does not fit.
  absl::StatusOr<std::vector<RuntimeValue>> Run(const std::vector<RuntimeValue>& values,
                                                const PlanResources& resources);

  const Step& step() const { return step_; }

 private:
  struct Source {
    int value = -1;  // a number of the cut's values; -1: a constant, or not given
    RuntimeValue constant;
  };
  absl::Status AddOperand(const ProgramCut& cut, ir::Operation op, uint32_t i);
  absl::StatusOr<std::vector<RuntimeValue>> RunKernel(const KernelArgs& args);
  absl::StatusOr<std::vector<RuntimeValue>> RunUnlocated(const std::vector<RuntimeValue>& values,
                                                         const PlanResources& resources);

  Step step_;
  std::vector<Source> operands_;
  std::vector<ir::Type> result_types_;  // as stated
  bool takes_sequences_ = false;        // kTakesSequences
};

}  // namespace weft::kernels

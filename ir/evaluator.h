// What passes need from the runtime, injected by the tool: computing an op whose operands are
// constants, and whole programs.
#pragma once

#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // The results of op for these dense operand values (a null attribute where an optional operand is
  // not given), one dense attribute per result, in op's context. An error when no kernel runs the
  // op.
  virtual absl::StatusOr<std::vector<Attribute>> Evaluate(Operation op,
                                                          std::span<const Attribute> operands) = 0;
};

class ProgramRunner {
 public:
  // The reference kernels round once per op and keep every NaN and sign; the others are those that
  // a session takes by default.
  enum class Kernels { kReference, kDefault };

  virtual ~ProgramRunner() = default;
  // The outputs for these dense inputs, dense too, in the program's context. Errors are those of a
  // session: InvalidArgument for inputs that an op refuses, Unsupported where no kernel runs an op.
  virtual absl::StatusOr<std::vector<Attribute>> Run(const Program& program,
                                                     std::span<const Attribute> inputs,
                                                     Kernels kernels) = 0;
};

}  // namespace weft::ir

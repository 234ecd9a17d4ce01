// What passes need from the runtime, injected by the tool: computing an op whose operands are
// constants.
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

}  // namespace weft::ir

// Runs programs of pd ops in double precision with plain loops: what rewrites and gradients of pd are
// compared by. The loops are in pd_kernels*_test.cc; an op without one is a test failure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/evaluator.h"
#include "ir/program.h"

namespace weft::passes {

struct PdTensor {
  ir::Shape dims;
  std::vector<double> data;
};

// The operands of the body's builtin.return, given the values of the body's arguments.
std::vector<PdTensor> EvaluatePd(ir::Program& program, const std::vector<PdTensor>& inputs);

// What pd.fetch takes out, by name, given what pd.feed and builtin.get_parameter bring in, by name.
using PdTensors = std::map<std::string, PdTensor>;
PdTensors FetchPd(ir::Program& program, const PdTensors& given);

// The same for what compares programs, such as the judge of rules. Results are rounded once, to their
// type. Unsupported where an op has no loop, or
// a type of open sizes.
class PdRunner final : public ir::ProgramRunner {
 public:
  absl::StatusOr<std::vector<ir::Attribute>> Run(const ir::Program& program,
                                                 std::span<const ir::Attribute> inputs,
                                                 Kernels kernels) override;
};

}  // namespace weft::passes

// Runs programs of pd ops in double precision with plain loops: what rewrites and gradients of pd are
// compared by. The loops are in pd_kernels*_test.cc; an op without one is a test failure.
#pragma once

#include <map>
#include <string>
#include <vector>

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

}  // namespace weft::passes

// Runs programs of pd ops in double precision with plain loops: what rules on pd are compared by.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace weft::passes {

struct PdTensor {
  ir::Shape dims;
  std::vector<double> data;
};

// The operands of the body's builtin.return, given the values of the body's arguments. Ops: full,
// full_int_array, builtin.constant, combine, matmul, add, scale, softmax, transpose, reshape,
// concat, multihead_matmul; anything else is a test failure.
std::vector<PdTensor> EvaluatePd(ir::Program& program, const std::vector<PdTensor>& inputs);

}  // namespace weft::passes

// A rule in one line: "mul(x, 1) => x where the result has the type of x".
#pragma once

#include <string>
#include <string_view>

#include "drr/rule/rule.h"

namespace weft::drr {

// What the author wrote, or else printed from the graph. Ops have their names in snake_case, with
// their dialect where it is not that of the root; alternatives are separated by '/', optional
// operands end in '?', lists in '...'. Values that are used twice are named behind "with".
std::string AlgebraOf(const Rule& rule);

// HardSigmoid is hard_sigmoid, MatMul is matmul, BatchNormalization is batch_normalization.
std::string SnakeCase(std::string_view name);

}  // namespace weft::drr

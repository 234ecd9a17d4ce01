// How far results may be from those in real arithmetic, from the number of roundings on the way.
#pragma once

#include <span>
#include <vector>

#include "ir/evaluator.h"
#include "ir/program.h"

namespace weft::passes {

// The unit roundoff of the shortest type of floats that a program has values of: 2^-24 for f32, 2^-11
// for f16, 2^-8 for bf16.
double UnitRoundoff(ir::Program& program);

// For each output of `in_double` (passes/verify/in_double.h) how far its elements may be from
// `results`, which it gives for these inputs, when each rounding is off by `unit`; infinite where
// nothing can be said. An estimate by Monte Carlo arithmetic (D. S. Parker, 1997): the program is run,
// in double, with each op that rounds reading and giving values that are off by so many units as it
// takes roundings, up or down by chance:
//
//   sums, products, roots   1
//   an elementwise function 8, since kernels are right to a few units
//   one that sums elements  as many more as the largest operand has: an element of the result may be
//                           a sum of all (Higham, Accuracy and Stability of Numerical Algorithms,
//                           section 3.1)
//   one that moves elements none
std::vector<double> RoundingBounds(const ir::Program& in_double,
                                   std::span<const ir::Attribute> inputs,
                                   std::span<const ir::Attribute> results, double unit,
                                   ir::ProgramRunner& runner);

}  // namespace weft::passes

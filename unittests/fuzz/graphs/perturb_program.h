// Copies of a program in which something rounds otherwise, to see by how much that moves its outputs.
#pragma once

#include <memory>

#include "ir/program.h"
#include "unittests/fuzz/graphs/random_values.h"

namespace weft::fuzz {

// With constants that hold data a few units in the last place away. Single numbers are what rules look
// for, and are mostly exact.
std::unique_ptr<ir::Program> WithPerturbedConstants(ir::Program& program, Random& random);

// With every f32 and f64 that an op computes about one unit in the last place away, up or down by
// chance, also within ops that are defined by simpler ones.
std::unique_ptr<ir::Program> WithPerturbedResults(ir::Program& program, Random& random);

}  // namespace weft::fuzz

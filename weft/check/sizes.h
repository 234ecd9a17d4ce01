// Sizes for the symbols of a program that is to run on inputs that nobody gave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dim/dim_expr.h"
#include "ir/program.h"

namespace weft {

// Of all its symbols, small ones first: each symbol another one, then all the same. Begins elsewhere for
// another seed, which is from 1. Without symbols: no sizes, once.
std::vector<std::vector<ir::DimBinding>> SizesToTry(ir::Program& program, uint64_t seed);

// "M=3 N=2"; control characters of symbols as \xNN.
std::string SizesText(const std::vector<ir::DimBinding>& sizes);

}  // namespace weft

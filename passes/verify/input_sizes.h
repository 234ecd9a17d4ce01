// The sizes that an instance of a rule is run with.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "passes/verify/rule_instances.h"

namespace weft::passes {

// Types of the inputs, with numbers for all sizes: at least those that it was found with. Where its
// types leave sizes open, others come first, some after: each size another, all 1, and a few mixed,
// with which the program need not run.
std::vector<std::vector<ir::Type>> InputTypesOf(const RuleInstance& instance, uint64_t seed);

}  // namespace weft::passes

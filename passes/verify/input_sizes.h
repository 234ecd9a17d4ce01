// The sizes that an instance of a rule is run with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ir/program.h"
#include "passes/verify/rule_instances.h"

namespace weft::passes {

// Types of the inputs, with numbers for all sizes: at least those that it was found with. Where its
// types leave sizes open, others come first, some after: each size another, all 1, and a few mixed. With
// these the program need not run, but no op forbids them by its types.
std::vector<std::vector<ir::Type>> InputTypesOf(const RuleInstance& instance, uint64_t seed);

// Programs with symbols for some of their sizes say by the names of these what they stood for: s2 for 2. What a
// rule does where less is known shows on them, and they run with the sizes that they had.

// The program with a symbol for each of these sizes, from 2 on, in the types of its inputs; the others follow, and
// where the list of a Reshape names such a size it is copied, or is what is left. Null where an op does not take that,
// and of programs with regions.
std::unique_ptr<ir::Program> WithOpenSizes(ir::Program& program, const std::set<int64_t>& sizes);

// Whether the type of an input leaves sizes open, or the rank.
bool HasOpenSizes(ir::Program& program);

// The types of its inputs with the numbers that such symbols stand for, and for other symbols small ones that no op
// forbids; nothing where there are none, or where a size has no symbol.
std::optional<std::vector<ir::Type>> ClosedInputTypes(ir::Program& program);

}  // namespace weft::passes

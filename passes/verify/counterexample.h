// What a refuted rule is shown with.
#pragma once

#include <span>
#include <string>

#include "ir/program.h"
#include "passes/verify/difference.h"

namespace weft::passes {

// The program before, which can be read and run, and in comments the inputs, both results and the
// program after.
std::string CounterexampleText(ir::Program& before, ir::Program& after,
                               std::span<const ir::Attribute> inputs, const Results& results);

}  // namespace weft::passes

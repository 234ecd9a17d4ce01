// Copies of programs, and one application of a rule to one.
#pragma once

#include <memory>
#include <string>

#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::passes {

// A copy; *op, of the program, becomes the same operation of the copy.
std::unique_ptr<ir::Program> CloneWith(ir::Program& program, ir::Operation* op);

// The copy after the rule was applied at what is `site` in `program`, whether it is valid or not; null
// where the rule does not match there, or the engine refuses its result. *reason (may be null) says why.
std::unique_ptr<ir::Program> ApplyOnce(const drr::Rule& rule, ir::Program& program,
                                       ir::Operation site, std::string* reason);

// Whether the rule makes the same program of it, text for text.
bool MakesTheSame(const drr::Rule& rule, ir::Program& program, ir::Operation site,
                  ir::Program& same);

}  // namespace weft::passes

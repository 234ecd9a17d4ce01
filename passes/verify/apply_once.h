// One application of a rule to a copy of a program.
#pragma once

#include <memory>
#include <string>

#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::passes {

// The copy after the rule was applied at what is `site` in `program`; null where the rule does not
// match there, declines, or leaves a program that is not valid. *reason (may be null) says why.
std::unique_ptr<ir::Program> ApplyOnce(const drr::Rule& rule, ir::Program& program,
                                       ir::Operation site, std::string* reason);

}  // namespace weft::passes

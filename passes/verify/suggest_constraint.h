// What a refuted rule may lack: a constraint in words of the vocabulary (drr/rule/vocabulary.h) that
// does not hold where the rule is wrong, and does where it is right.
#pragma once

#include <string>
#include <vector>

#include "passes/verify/rule_instances.h"

namespace weft::passes {

// As a line of rule text, `require "x has the type of y" same_type(%x, %y)`: of those that hold on none
// of `wrong`, the one that holds on most of `right`; "" where none holds on any. Programs of which no
// result has two elements do not count as right: of one element or none much is true by chance. The
// instances are those of the rule.
std::string SuggestConstraint(const drr::Rule& rule, const std::vector<const RuleInstance*>& right,
                              const std::vector<const RuleInstance*>& wrong);

}  // namespace weft::passes

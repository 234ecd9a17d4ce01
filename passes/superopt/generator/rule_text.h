// Substitutions as rules in the text form (drr/text/rule_text.h) on ONNX operators. A rule applies to
// matrices, and where a type of an output would change the engine declines it.
#pragma once

#include <string>
#include <vector>

#include "passes/superopt/generator/generate.h"

namespace weft::passes::substitution {

// "" or why the rule language cannot say a rule with this source.
std::string WhyNotSaid(const Graph& source);

// One rule.
std::string RuleText(const std::string& name, const Rewrite& rewrite, bool exact);

// The whole file: substitution-N for both directions, the second with -back.
std::string RuleFileText(const Generated& generated, int depth);

}  // namespace weft::passes::substitution

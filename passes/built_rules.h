// Rules that were built for one context: a group stands in several passes of a pipeline, which share its rules.
#pragma once

#include <map>
#include <string_view>

#include "drr/engine/rule_set.h"
#include "passes/rule_registry.h"

namespace weft::passes {

class BuiltRules {
 public:
  const drr::SharedRule& Build(const RegisteredRule& rule, ir::IrContext* context);

 private:
  std::map<std::string_view, drr::SharedRule> built_;  // by name
};

}  // namespace weft::passes

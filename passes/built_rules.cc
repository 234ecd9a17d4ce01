#include "passes/built_rules.h"

#include <utility>

namespace weft::passes {

const drr::SharedRule& BuiltRules::Build(const RegisteredRule& rule, ir::IrContext* context) {
  auto it = built_.find(rule.name);
  if (it == built_.end())
    it = built_.emplace(rule.name, drr::SharedRule(rule.build(context))).first;
  return it->second;
}

}  // namespace weft::passes

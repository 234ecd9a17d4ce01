#include "passes/rule_registry.h"

#include <algorithm>

#include "ir/base/check.h"

namespace weft::passes {
namespace {

std::vector<RegisteredRule>& Rules() {
  static auto* rules = new std::vector<RegisteredRule>;
  return *rules;
}

}  // namespace

namespace internal {
bool AddRule(RegisteredRule rule) {
  auto& rules = Rules();
  auto at = std::lower_bound(rules.begin(), rules.end(), rule.name,
                             [](const auto& r, std::string_view name) { return r.name < name; });
  WEFT_CHECK(at == rules.end() || at->name != rule.name, "two rules have one name");
  rules.insert(at, rule);
  return true;
}
}  // namespace internal

std::vector<RegisteredRule> RegisteredRules() { return Rules(); }

const RegisteredRule* FindRule(std::string_view name) {
  for (const RegisteredRule& rule : Rules())
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace weft::passes

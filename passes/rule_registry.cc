#include "passes/rule_registry.h"

#include <algorithm>

#include "drr/rule/algebra.h"
#include "ir/base/registration.h"
#include "ir/context.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

std::vector<RegisteredRule>& Rules() {
  static auto* rules = new std::vector<RegisteredRule>;
  return *rules;
}

// Of a header, which every source that includes it registers. In a second source of a program that gives
// another rule this name the linker keeps one of them, but they do not stand in one place.
bool IsSame(const RegisteredRule& a, const RegisteredRule& b) {
  return a.name == b.name && a.build == b.build && a.loc.line == b.loc.line &&
         std::string_view(a.loc.file) == b.loc.file;
}

}  // namespace

namespace internal {
bool AddRule(RegisteredRule rule) {
  auto& rules = Rules();
  auto at = std::lower_bound(rules.begin(), rules.end(), rule.name,
                             [](const auto& r, std::string_view name) { return r.name < name; });
  std::vector<std::string_view> names = rule.aliases;
  names.insert(names.begin(), rule.name);
  for (std::string_view name : names) {
    const RegisteredRule* const other = FindRule(name);
    if (!other) continue;
    if (IsSame(*other, rule)) return true;
    ir::RegistrationFailed(rule.loc.file, rule.loc.line,
                           "two rules are called " + std::string(name));
    return false;
  }
  rules.insert(at, std::move(rule));
  return true;
}

bool AddRule(std::string_view name, std::string_view group, drr::NumericClass numerics,
             const RuleOptions& options, drr::SourceLoc loc,
             drr::BuildResult (*build)(ir::IrContext*)) {
  RegisteredRule rule{.name = name,
                      .group = group,
                      .opt_in = options.opt_in,
                      .seed = options.seed,
                      .algebra = options.algebra,
                      .numerics = numerics,
                      .build = build,
                      .loc = loc};
  for (std::string_view alias : options.aliases)
    if (!alias.empty()) rule.aliases.push_back(alias);
  return AddRule(std::move(rule));
}

drr::BuildResult BuildRule(ir::IrContext* context, const drr::RuleInfo& info, drr::SourceLoc loc,
                           RecordRule record) {
  drr::DrrPatternContext ctx(info.name, context);
  drr::SourcePattern src = ctx.SourcePattern(loc);
  drr::ResultPattern res = src.ResultPattern();
  record(src, res);
  return drr::internal::FinishRule(std::move(ctx.graph()), info);
}
}  // namespace internal

std::vector<RegisteredRule> RegisteredRules() { return Rules(); }

const RegisteredRule* FindRule(std::string_view name) {
  for (const RegisteredRule& rule : Rules())
    if (rule.name == name ||
        std::find(rule.aliases.begin(), rule.aliases.end(), name) != rule.aliases.end())
      return &rule;
  return nullptr;
}

std::string_view CanonicalRuleName(std::string_view name) {
  const RegisteredRule* rule = FindRule(name);
  return rule ? rule->name : name;
}

bool ContainsRule(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& n) { return CanonicalRuleName(n) == name; });
}

std::string AlgebraOf(const RegisteredRule& rule) {
  if (!rule.algebra.empty()) return std::string(rule.algebra);
  ir::IrContext context;
  const drr::BuildResult built = rule.build(&context);
  return built.rule ? drr::AlgebraOf(*built.rule) : std::string();
}

}  // namespace weft::passes

// The rule library: every rule file registers its rule, with the group it belongs to; a group runs
// as one pattern-rewrite pass (passes/pattern_rewrite_pass.h).
//
// WEFT_RULE (passes/rules.h) registers what it defines. A rule in the class form is registered by
//
//   WEFT_REGISTER_RULE(ComposeTransposes, "canonicalize");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drr/cpp/pattern_base.h"

namespace weft::passes {

struct RegisteredRule {
  std::string_view name;
  std::string_view group;
  bool opt_in = false;         // runs only when enabled by name
  std::string_view seed = {};  // the document whose transformation it is: see transformation.h
  std::vector<std::string_view> aliases = {};
  std::string_view algebra;  // empty: printed from the rule, see AlgebraOf()
  drr::NumericClass numerics = drr::NumericClass::kReassociates;
  drr::BuildResult (*build)(ir::IrContext*) = nullptr;
  drr::SourceLoc loc;  // of its registration
};

// Sorted by name.
std::vector<RegisteredRule> RegisteredRules();
// By its name or an alias.
const RegisteredRule* FindRule(std::string_view name);
// The name of the rule that has `name` as an alias; else `name`.
std::string_view CanonicalRuleName(std::string_view name);
// Whether `name` is among `names`, which may hold aliases of rules.
bool ContainsRule(const std::vector<std::string>& names, std::string_view name);
// Before => after, in one line.
std::string AlgebraOf(const RegisteredRule& rule);

namespace internal {
bool AddRule(RegisteredRule rule);

template <class P>
bool AddRuleOf(std::string_view group, bool opt_in, drr::SourceLoc loc) {
  RegisteredRule rule;
  rule.name = P::kName;
  rule.group = group;
  rule.opt_in = opt_in;
  rule.loc = loc;
  if constexpr (requires { P::kSeed; }) rule.seed = P::kSeed;
  if constexpr (requires { P::kAlgebra; }) rule.algebra = P::kAlgebra;
  if constexpr (requires { P::kNumerics; }) rule.numerics = P::kNumerics;
  rule.build = [](ir::IrContext* context) { return P().Build(context); };
  return AddRule(rule);
}
}  // namespace internal

#define WEFT_REGISTER_RULE(P, group)                       \
  [[maybe_unused]] static const bool weft_registered_##P = \
      ::weft::passes::internal::AddRuleOf<P>(group, false, {__FILE__, __LINE__})
#define WEFT_REGISTER_OPT_IN_RULE(P, group)                \
  [[maybe_unused]] static const bool weft_registered_##P = \
      ::weft::passes::internal::AddRuleOf<P>(group, true, {__FILE__, __LINE__})

}  // namespace weft::passes

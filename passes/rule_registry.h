// The rule library: every rule file registers its rule, with the group it belongs to; a group runs
// as one pattern-rewrite pass (passes/pattern_rewrite_pass.h).
//
//   // passes/canonicalize/compose_transposes.cc, at the end:
//   WEFT_REGISTER_RULE(ComposeTransposes, "canonicalize");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drr/drr.h"

namespace weft::passes {

struct RegisteredRule {
  std::string_view name;
  std::string_view group;
  bool opt_in = false;         // runs only when enabled by name
  std::string_view seed = {};  // the document whose transformation it is: see transformation.h
  std::string_view algebra;
  drr::NumericClass numerics = drr::NumericClass::kReassociates;
  drr::BuildResult (*build)(ir::IrContext*) = nullptr;
  drr::SourceLoc loc;  // of its registration
};

// Sorted by name.
std::vector<RegisteredRule> RegisteredRules();
const RegisteredRule* FindRule(std::string_view name);

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

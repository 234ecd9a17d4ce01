// Everything that changes programs, by name: the rules of the registry, and the passes that rewrite
// by themselves because no rule can say what they do. ir-opt --list-rules prints them.
//
// Many come from five documents, the seeds:
//   paddle         PaddlePaddle's DRR passes and its PIR listings
//   litert         graph-to-graph transformations of the LiteRT compiler for Qualcomm NPUs
//   neural-engine  pattern mappings of Intel's Neural Engine
//   ascend         the knowledge base of Ascend's auto-optimizer
//   ai-system      graph optimization, chapter 5.2 of the textbook AI-System
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/base/status.h"

namespace weft::passes {

inline constexpr std::string_view kSeeds[] = {"paddle", "litert", "neural-engine", "ascend",
                                              "ai-system"};

struct Transformation {
  std::string name;
  std::string_view seed;   // one of kSeeds; empty: none
  std::string_view group;  // of a rule; empty: a pass
  drr::NumericClass numerics = drr::NumericClass::kExact;
  // False: only the pipelines of a target run it, or --enable-rule.
  bool by_default = false;
  std::vector<std::string> pipelines;          // that run it unasked, those of targets only
  std::vector<std::string_view> aliases = {};  // of a rule
  std::string what = {};                       // what a pass does

  std::string file = {};  // where it is registered, from the root of the tree
  int line = 0;

  // Before => after of a rule, what a pass does.
  std::string What() const;

  bool IsPass() const { return group.empty(); }
  // "default", "opt-in", or "opt-in: ascend" with the pipelines.
  std::string Runs() const;
  // Its golden programs mirror its file: unittests/passes/layout/golden/lower-conv-to-nhwc.
  std::string GoldenFolder() const;
};
// Sorted by name.
std::vector<Transformation> Transformations();
// Ok when `name` is one of `rules`, whose matches are explained and counted.
absl::Status CheckRuleName(std::string_view name, std::span<const std::string> rules);

// `passes`, with those transformations of `enabled` that are not in them: passes among them by
// name, rules in one pass that is called kEnabledRules. Inserted after the leading `simplify`
// passes if present, else appended.
inline constexpr std::string_view kEnabledRules = "enabled-rules";
std::vector<std::string> WithEnabled(std::vector<std::string> passes,
                                     const std::vector<std::string>& enabled);
// The rules of `enabled` that none of `passes` has.
std::vector<std::string> RulesOutside(const std::vector<std::string>& passes,
                                      const std::vector<std::string>& enabled);

}  // namespace weft::passes

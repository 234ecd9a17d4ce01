#include "drr/rule/rule.h"

namespace weft::drr {

Rule::Rule(PatternGraph g) : graph(std::move(g)) {}
Rule::Rule(const Rule& other) = default;
Rule::Rule(Rule&& other) noexcept = default;
Rule::~Rule() = default;
BuildResult::BuildResult() = default;
BuildResult::BuildResult(BuildResult&& other) noexcept = default;
BuildResult& BuildResult::operator=(BuildResult&& other) noexcept = default;
BuildResult::~BuildResult() = default;

namespace internal {

BuildResult FinishRule(PatternGraph graph, const RuleInfo& info) {
  BuildResult result;
  result.errors = graph.Check();
  result.warnings = graph.warnings();
  if (!result.errors.empty()) return result;
  const std::string name(graph.rule());
  result.rule = ir::Owned<Rule>(new Rule(std::move(graph)));
  result.rule->name = name;
  result.rule->algebra = info.algebra;
  result.rule->numerics = info.numerics;
  result.rule->benefit =
      info.benefit > 0 ? info.benefit : static_cast<int>(result.rule->graph.ops.size());
  return result;
}

}  // namespace internal
}  // namespace weft::drr

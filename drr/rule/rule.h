// A checked rule, and what comes of building one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/numeric_class.h"
#include "drr/rule/pattern_graph.h"

namespace weft::drr {

struct Rule {
  std::string name;     // kebab-case: the flag, the golden folder, the log tag
  std::string algebra;  // before => after, one line
  NumericClass numerics = NumericClass::kReassociates;
  int benefit = 0;  // larger is tried first; default: the number of source ops
  PatternGraph graph;

  explicit Rule(PatternGraph g);
  Rule(const Rule& other);
  Rule(Rule&& other) noexcept;
  ~Rule();
};

// The outcome of building a rule: the rule, or every mistake in it as file:line: error: text.
struct BuildResult {
  ir::Owned<Rule> rule;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // string spelling only: what the rule leaves unused
  bool ok() const { return rule != nullptr; }

  BuildResult();
  BuildResult(BuildResult&& other) noexcept;
  BuildResult& operator=(BuildResult&& other) noexcept;
  ~BuildResult();
};

// What a rule says of itself besides its pattern.
struct RuleInfo {
  std::string_view name, algebra;
  NumericClass numerics = NumericClass::kReassociates;
  int benefit = 0;
};

namespace internal {
// Checks a recorded graph and makes it a rule.
BuildResult FinishRule(PatternGraph graph, const RuleInfo& info);
template <class GraphPointer>
BuildResult FinishRule(GraphPointer graph, std::string_view algebra, NumericClass numerics,
                       int benefit) {
  const std::string name(graph->rule());
  return FinishRule(std::move(*graph), {name, algebra, numerics, benefit});
}
}  // namespace internal

}  // namespace weft::drr

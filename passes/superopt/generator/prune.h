// Which pairs of equal graphs are not worth a rule, because a smaller or more general pair says it.
#pragma once

#include <map>
#include <vector>

#include "passes/superopt/generator/graph.h"

namespace weft::passes::substitution {

// Two graphs that compute the same; outputs correspond.
struct GraphPair {
  Graph a, b;
  std::vector<int> a_outputs, b_outputs;
};

// An operator on the same variables is in both: its result could be a variable.
bool ShareSubgraph(const Graph& a, const Graph& b);
// The outputs come from one operator in each, of one kind, which read the same but for one operand:
// what they read there is the rule.
bool ShareSupergraph(const Graph& a, const Graph& b);

// Pairs of which none is another one with variables renamed or made equal.
class MostGeneral {
 public:
  // Whether a pair that was added says this one too. Ask for the most general ones first.
  bool Says(const GraphPair& pair) const;
  void Add(const GraphPair& pair);

 private:
  std::map<std::vector<int>, std::vector<GraphPair>> by_kinds_;
};

}  // namespace weft::passes::substitution

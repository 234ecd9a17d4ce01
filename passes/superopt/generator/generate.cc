#include "passes/superopt/generator/generate.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "passes/superopt/generator/enumerate.h"
#include "passes/superopt/generator/evaluate.h"

namespace weft::passes::substitution {
namespace {

// Pairs the outputs of two graphs that agree; false when that is chance.
bool PairOutputs(GraphPair* pair) {
  constexpr int kSize = 2;  // x1 and w1 of one shape fit in every graph
  std::array<Matrix, kNumVariables> variables;
  for (int v = 0; v < kNumVariables; ++v)
    variables[v] = v == kNumber ? RandomMatrix(1, 1, 1, v) : RandomMatrix(kSize, kSize, 1, v);
  const std::vector<int> outputs = pair->b.Outputs();
  pair->a_outputs = pair->a.Outputs();
  const auto a = EvaluateGraph(pair->a, pair->a_outputs, variables, {});
  const auto b = EvaluateGraph(pair->b, outputs, variables, {});
  if (a.empty() || a.size() != b.size()) return false;
  pair->b_outputs.clear();
  for (const Matrix& matrix : a) {
    const auto found = std::find(b.begin(), b.end(), matrix);
    if (found == b.end()) return false;
    pair->b_outputs.push_back(outputs[static_cast<size_t>(found - b.begin())]);
  }
  return true;
}

bool Covers(uint32_t variables, uint32_t wanted) { return (wanted & ~variables) == 0; }

bool IsWorthARule(const Graph& a, const Graph& b) {
  const uint32_t in_a = a.Variables(), in_b = b.Variables();
  return (Covers(in_a, in_b) || Covers(in_b, in_a)) && !ShareSubgraph(a, b) &&
         !ShareSupergraph(a, b);
}

std::vector<GraphPair> FindCandidates(const Enumeration& enumeration) {
  std::vector<GraphPair> candidates;
  const std::vector<Enumerated>& graphs = enumeration.graphs;
  for (size_t begin = 0, end = 0; begin < graphs.size(); begin = end) {
    while (end < graphs.size() && graphs[end].fingerprint == graphs[begin].fingerprint) ++end;
    if (end - begin < 2) continue;
    std::vector<std::pair<Graph, bool>> group;
    for (size_t i = begin; i < end; ++i) {
      const Graph graph = Graph::Unpack(graphs[i].graph);
      group.emplace_back(graph, graph.ReadsVariablesInOrder());
    }
    for (size_t i = 0; i < group.size(); ++i)
      for (size_t j = i + 1; j < group.size(); ++j) {
        if (!group[i].second && !group[j].second) continue;
        GraphPair pair{group[i].first, group[j].first, {}, {}};
        // The first reads its variables in order, and has more operators if it may.
        if (!group[i].second || (group[j].second && pair.b.num_ops > pair.a.num_ops))
          std::swap(pair.a, pair.b);
        if (IsWorthARule(pair.a, pair.b) && PairOutputs(&pair)) candidates.push_back(pair);
      }
  }
  for (const auto& [graph, variables] : enumeration.identities) {
    GraphPair pair{graph, variables, graph.Outputs(), variables.Outputs()};
    if (pair.a_outputs.size() == pair.b_outputs.size()) candidates.push_back(std::move(pair));
  }
  return candidates;
}

// Small ones first, and of equally many operators those with more variables, which say more, with
// x1 before x2.
auto Order(const GraphPair& pair) {
  const int variables = std::popcount(pair.a.Variables() | pair.b.Variables());
  const auto keys = [](const Graph& graph) {
    std::array<uint16_t, kMaxOps> list = {};
    for (int i = 0; i < graph.num_ops; ++i) list[i] = graph.ops[i].Key();
    return list;
  };
  const bool in_order = pair.a.ReadsVariablesInOrder() && pair.b.ReadsVariablesInOrder();
  return std::tuple(pair.a.num_ops + pair.b.num_ops, -variables, !in_order, keys(pair.a),
                    keys(pair.b), pair.b.returned);
}

bool VerifyDirections(const GenerateOptions& options, Substitution* s) {
  s->exact = true;
  const auto holds = [&](const Rewrite& rewrite) {
    if (rewrite.source.num_ops == 0 ||
        !Covers(rewrite.source.Variables(), rewrite.target.Variables()))
      return false;
    const Verdict verdict = Verify(rewrite, options.assignments);
    if (!verdict.right || verdict.applied < GenerateOptions::kLeastAssignments) return false;
    s->exact &= verdict.exact;
    return true;
  };
  s->forwards = holds(s->Forwards());
  s->backwards = holds(s->Backwards());
  return s->forwards || s->backwards;
}

}  // namespace

absl::StatusOr<Generated> Generate(const GenerateOptions& options) {
  if (options.depth < 1 || options.depth > kMaxOps)
    return ir::InvalidArgument("the depth is 1 to " + std::to_string(kMaxOps));
  WEFT_ASSIGN_OR_RETURN(const Enumeration enumeration,
                        EnumerateGraphs(options.depth, options.max_bytes));
  Generated generated;
  generated.graphs = enumeration.graphs.size();
  std::vector<GraphPair> candidates = FindCandidates(enumeration);
  generated.candidates = candidates.size();
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& x, const auto& y) { return Order(x) < Order(y); });
  MostGeneral kept;
  for (GraphPair& pair : candidates) {
    if (kept.Says(pair)) continue;
    Substitution substitution{std::move(pair)};
    if (!VerifyDirections(options, &substitution)) {
      ++generated.refuted;
      continue;
    }
    kept.Add(substitution.pair);
    generated.substitutions.push_back(std::move(substitution));
  }
  return generated;
}

}  // namespace weft::passes::substitution

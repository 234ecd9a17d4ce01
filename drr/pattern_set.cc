#include "drr/pattern_set.h"

#include <algorithm>

namespace weft::drr {
namespace {

// Ops on the longest path from `value` down; `depths` remembers values done (source graphs are
// acyclic).
int Depth(const PatternGraph& graph, int value, std::vector<int>& depths) {
  value = graph.Resolve(value);
  if (depths[value] >= 0) return depths[value];
  depths[value] = 0;
  int depth = 0;
  const SourceValue& v = graph.values[value];
  for (int alternative : v.either) depth = std::max(depth, Depth(graph, alternative, depths));
  if (v.producer >= 0) {
    depth = 1;
    for (int operand : graph.ops[v.producer].operands)
      if (operand != kAbsent) depth = std::max(depth, 1 + Depth(graph, operand, depths));
  }
  return depths[value] = depth;
}

}  // namespace

void RewritePatternSet::Add(BuildResult result) {
  errors_.insert(errors_.end(), result.errors.begin(), result.errors.end());
  warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
  if (result.rule) rules_.push_back(std::move(result.rule));
}

FrozenRewritePatternSet::FrozenRewritePatternSet(RewritePatternSet set)
    : rules_(std::move(set.rules_)) {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    const PatternGraph& graph = rules_[i]->graph;
    has_joins_ |= graph.roots().size() > 1;
    std::vector<int> depths(graph.values.size(), -1);
    for (size_t v = 0; v < graph.values.size(); ++v)
      max_depth_ = std::max(max_depth_, Depth(graph, static_cast<int>(v), depths));
    for (int producer : graph.RootProducers())
      for (const Alternative& alternative : graph.ops[producer].alternatives) {
        const uint16_t id = alternative.def->opcode.id();
        if (by_opcode_.size() <= id) by_opcode_.resize(id + 1);
        if (by_opcode_[id].empty() || by_opcode_[id].back() != i) by_opcode_[id].push_back(i);
      }
  }
  for (std::vector<uint32_t>& list : by_opcode_)
    std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return rules_[a]->benefit > rules_[b]->benefit;
    });
}

}  // namespace weft::drr

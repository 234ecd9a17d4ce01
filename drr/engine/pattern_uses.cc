#include "drr/engine/pattern_uses.h"

#include <algorithm>
#include <vector>

#include "drr/engine/automaton.h"
#include "drr/engine/match_semantics.h"

namespace weft::drr {

PatternUses UsesInside(const PatternGraph& graph) {
  if (graph.HasLists()) return PatternUses(graph.ops.size(), TreeAutomaton::kAnyUses);
  PatternUses uses(graph.ops.size(), 0);
  uint32_t operands = 0;
  const auto use = [&](ValueId value) {
    if (const OpId producer = graph.values[value].producer) uses[producer] = 1;
  };
  for (const SourceOp& user : graph.ops)
    for (ValueId operand : user.operands) {
      if (!operand) continue;
      ++operands;
      const ValueId value = graph.Resolve(operand);
      use(value);
      for (ValueId alternative : graph.values[value].either) use(graph.Resolve(alternative));
    }
  for (uint32_t& n : uses) n *= operands;
  return uses;
}

bool IsShallowExclusion(const PatternGraph& graph, OpId op, const PatternUses& uses) {
  const auto is_open = [&](ValueId operand) {
    const SourceValue& v = graph.values[graph.Resolve(operand)];
    return !v.producer && v.either.empty() && !v.through && !v.list && v.nots.empty();
  };
  const std::vector<ValueId>& operands = graph.ops[op].operands;
  return uses[op] == 0 &&
         std::find(graph.roots().begin(), graph.roots().end(), op) == graph.roots().end() &&
         std::all_of(operands.begin(), operands.end(),
                     [&](ValueId operand) { return !operand || is_open(operand); });
}

namespace {

// All that stands for an operand, what a region returns, and exclusions.
std::vector<ValueId> ValuesRead(const PatternGraph& graph) {
  std::vector<ValueId> values;
  const auto add = [&](const std::vector<ValueId>& others) {
    values.insert(values.end(), others.begin(), others.end());
  };
  for (const SourceOp& op : graph.ops) {
    add(op.operands);
    for (const RegionPattern& region : op.regions) add(region.returned);
  }
  for (const SourceValue& v : graph.values) add(v.nots);
  std::erase(values, kAbsent);
  for (size_t i = 0; i < values.size(); ++i) {  // patterns are acyclic
    const SourceValue& v = graph.values[graph.Resolve(values[i])];
    if (v.through) values.push_back(v.through);
    add(v.either);
  }
  return values;
}

}  // namespace

IdVector<SourceOp, bool> TopOps(const PatternGraph& graph) {
  IdVector<SourceOp, bool> top(graph.ops.size(), false);
  for (const OpId root : graph.RootProducers()) top[root] = graph.ops[root].times == Times::kOnce;
  for (const ValueId value : ValuesRead(graph))
    if (const OpId producer = graph.values[graph.Resolve(value)].producer) top[producer] = false;
  return top;
}

Keeping KeepsResults(const PatternGraph& graph, OpId op) {
  Keeping keeping;
  // Results that the pattern does not name must have no use; an op of any name may have any number.
  keeping.all = !graph.ops[op].alternatives.empty();
  for (const Alternative& alternative : graph.ops[op].alternatives)
    keeping.all &= alternative.def->info->results.size() <= graph.ops[op].results.size();
  for (ValueId result : graph.ops[op].results) {
    const bool keeps = MayBeReadOutside(graph, graph.Resolve(result));
    keeping.all &= keeps;
    keeping.some |= keeps;
  }
  return keeping;
}

}  // namespace weft::drr

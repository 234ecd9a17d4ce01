#include "drr/engine/rule_set.h"

#include <algorithm>

#include "drr/engine/automaton.h"
#include "drr/engine/rule_engine.h"

namespace weft::drr {
namespace {

// Ops on the longest path from `value` down; `depths` remembers values done (source graphs are
// acyclic).
int Depth(const PatternGraph& graph, ValueId value, IdVector<SourceValue, int>& depths) {
  value = graph.Resolve(value);
  if (depths[value] >= 0) return depths[value];
  depths[value] = 0;
  int depth = 0;
  const SourceValue& v = graph.values[value];
  for (ValueId alternative : v.either) depth = std::max(depth, Depth(graph, alternative, depths));
  if (v.through) depth = kMaxSkipped + Depth(graph, v.through, depths);
  if (v.producer) {
    const SourceOp& op = graph.ops[v.producer];
    const int levels = op.times == Times::kChain ? op.max_times : 1;
    depth = levels;
    for (ValueId operand : op.operands)
      if (operand) depth = std::max(depth, levels + Depth(graph, operand, depths));
    for (const RegionPattern& region : op.regions)
      for (ValueId returned : region.returned)
        if (returned) depth = std::max(depth, 1 + Depth(graph, returned, depths));
  }
  for (ValueId pattern : v.nots) depth = std::max(depth, Depth(graph, pattern, depths));
  return depths[value] = depth;
}

absl::Status StatusOf(const std::vector<std::string>& errors) {
  if (errors.empty()) return absl::OkStatus();
  std::string message =
      "a rule of the set does not build; correct it or leave it out: " + errors[0];
  if (errors.size() > 1)
    message += " (" + std::to_string(errors.size() - 1) + " more in RewritePatternSet::errors())";
  return ir::InvalidArgument(message);
}

}  // namespace

SharedRule::SharedRule(BuildResult result)
    : rule(result.rule.release()),
      errors(std::move(result.errors)),
      warnings(std::move(result.warnings)) {}

void RewritePatternSet::Add(BuildResult result) { Add(SharedRule(std::move(result))); }

void RewritePatternSet::Add(const SharedRule& shared) {
  errors_.insert(errors_.end(), shared.errors.begin(), shared.errors.end());
  warnings_.insert(warnings_.end(), shared.warnings.begin(), shared.warnings.end());
  if (shared.rule) rules_.push_back(shared.rule);
}

FrozenRewritePatternSet::FrozenRewritePatternSet()
    : automaton_(std::make_unique<TreeAutomaton>(rules_)),
      engines_(std::make_unique<RuleEngines>(rules_)) {}
FrozenRewritePatternSet::~FrozenRewritePatternSet() = default;
FrozenRewritePatternSet::FrozenRewritePatternSet(FrozenRewritePatternSet&&) noexcept = default;
FrozenRewritePatternSet& FrozenRewritePatternSet::operator=(FrozenRewritePatternSet&&) noexcept =
    default;

FrozenRewritePatternSet::FrozenRewritePatternSet(RewritePatternSet set)
    : status_(StatusOf(set.errors_)),
      rules_(std::move(set.rules_)),
      automaton_(std::make_unique<TreeAutomaton>(rules_)),
      engines_(std::make_unique<RuleEngines>(rules_)) {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    const PatternGraph& graph = rules_[i]->graph;
    IdVector<SourceValue, int> depths(graph.values.size(), -1);
    for (ValueId v : graph.values.ids()) max_depth_ = std::max(max_depth_, Depth(graph, v, depths));
    for (OpId producer : graph.RootProducers()) AddStart(i, graph.ops[producer]);
  }
  for (std::vector<uint32_t>& list : by_opcode_) {
    list.insert(list.end(), anywhere_.begin(), anywhere_.end());
    std::sort(list.begin(), list.end());  // as they were added, each once
    list.erase(std::unique(list.begin(), list.end()), list.end());
    SortByBenefit(&list);
  }
  SortByBenefit(&anywhere_);
}

void FrozenRewritePatternSet::AddStart(uint32_t rule, const SourceOp& op) {
  auto add = [&](ir::Opcode opcode) {
    const uint16_t id = opcode.id();
    if (by_opcode_.size() <= id) by_opcode_.resize(id + 1);
    if (by_opcode_[id].empty() || by_opcode_[id].back() != rule) by_opcode_[id].push_back(rule);
  };
  for (const Alternative& alternative : op.alternatives) add(alternative.def->opcode);
  if (!op.alternatives.empty()) return;
  if (!op.opcode.empty()) {
    add(ir::Opcode::FindOrAdd(op.opcode));
  } else if (anywhere_.empty() || anywhere_.back() != rule) {
    anywhere_.push_back(rule);
  }
}

void FrozenRewritePatternSet::SortByBenefit(std::vector<uint32_t>* list) const {
  std::stable_sort(list->begin(), list->end(),
                   [&](uint32_t a, uint32_t b) { return rules_[a]->benefit > rules_[b]->benefit; });
}

}  // namespace weft::drr

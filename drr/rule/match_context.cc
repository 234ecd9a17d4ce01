#include "drr/rule/match_context.h"

#include <algorithm>

#include "drr/rule/post_context.h"

namespace weft::drr {

MatchContext::MatchContext(const Rule* rule)
    : rule_(rule),
      values_(rule->graph.values.size()),
      bound_(rule->graph.values.size(), false),
      ops_(rule->graph.ops.size()),
      alternatives_(rule->graph.ops.size(), -1),
      attrs_(rule->graph.attrs.size()),
      lets_(rule->graph.num_lets) {
  if (rule->graph.HasLists()) {
    lists_.resize(rule->graph.values.size());
    op_lists_.resize(rule->graph.ops.size());
  }
}

MatchContext::~MatchContext() = default;

void MatchContext::Reset() {
  values_.Fill(ir::Value());
  bound_.Fill(false);
  ops_.Fill(ir::Operation());
  alternatives_.Fill(-1);
  attrs_.Fill(ir::Attribute());
  for (auto& list : lists_) list.clear();
  for (auto& list : op_lists_) list.clear();
  explanation_.clear();
  memo_ = nullptr;
}

bool MatchContext::Contains(ir::Operation op) const {
  auto holds = [&](const auto& ops) { return std::find(ops.begin(), ops.end(), op) != ops.end(); };
  return holds(ops_) || holds(absorbed_) || holds(terminators_) ||
         std::binary_search(sorted_.begin(), sorted_.end(), op.id());
}

uint32_t MatchContext::ChainOperand(ir::Operation op) {
  const bool swapped = op.HasTrait(ir::kCommutative) && op.HasOperand(1) && op.operand(0) &&
                       ir::ConstantValue(op.operand(0));
  return swapped ? 1 : 0;
}

ir::Operation PostContext::result_op(ResultOpId id) const {
  const ir::Value v = results_[match_.rule().graph.result_ops[id].results[0]];
  return v ? v.DefiningOp() : ir::Operation();
}

}  // namespace weft::drr

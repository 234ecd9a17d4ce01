#include "drr/rule/match_context.h"

#include <algorithm>

#include "drr/drr.h"

namespace weft::drr {

std::vector<BoundTensor> MatchContext::operator[](TensorList list) const {
  std::vector<BoundTensor> tensors;
  for (ir::Value v : this->list(list.id())) tensors.emplace_back(v);
  return tensors;
}

ir::Operation MatchContext::operator[](AnyOpPattern op) const { return this->op(op.id()); }

const std::vector<ir::Operation>& MatchContext::operator[](RepeatPattern chain) const {
  return op_list(chain.id());
}

bool MatchContext::Contains(ir::Operation op) const {
  auto holds = [&](const std::vector<ir::Operation>& ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  };
  return holds(ops_) || holds(absorbed_) || holds(terminators_) ||
         std::binary_search(sorted_.begin(), sorted_.end(), op.id());
}

uint32_t MatchContext::ChainOperand(ir::Operation op) {
  const bool swapped = op.HasTrait(ir::kCommutative) && op.HasOperand(1) && op.operand(0) &&
                       ir::ConstantValue(op.operand(0));
  return swapped ? 1 : 0;
}

BoundTensor PostContext::operator[](Tensor t) const {
  const ir::Value v = match_.value(t.id());
  return BoundTensor(v && v.IsAlive() ? v : ir::Value());
}

ir::Operation PostContext::ResultOpAt(int op) const {
  const ir::Value v = results_[match_.rule().graph.result_ops[op].results[0]];
  return v ? v.DefiningOp() : ir::Operation();
}

}  // namespace weft::drr

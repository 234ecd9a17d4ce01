#include "passes/targets/ascend/retype.h"

#include <unordered_map>
#include <unordered_set>

namespace weft::passes {
namespace {

class Retyper {
 public:
  Retyper(ir::Rewriter& rewriter, const std::vector<RetypedOp>& ops, const Retyping& retyping)
      : rewriter_(rewriter), ops_(ops), retyping_(retyping) {
    for (const RetypedOp& r : ops_) {
      operands_[r.op.id()] = r.operands;
      for (uint32_t i = 0; i < r.op.num_results(); ++i)
        if (HasSlot(r.results, i)) made_inside_.insert(r.op.result(i).id());
    }
  }

  void Run() {
    for (const RetypedOp& r : ops_)
      for (uint32_t i = 0; i < r.op.num_operands(); ++i)
        if (HasSlot(r.operands, i) && r.op.operand(i)) Enter(r.op, i);
    for (const RetypedOp& r : ops_)
      for (uint32_t i = 0; i < r.op.num_results(); ++i)
        if (HasSlot(r.results, i)) Leave(r.op.result(i));
  }

 private:
  void Enter(ir::Operation op, uint32_t i) {
    const ir::Value outer = op.operand(i);
    if (made_inside_.count(outer.id())) return;
    ir::Value& inner = entered_[outer.id()];
    if (!inner) {
      if (outer.IsBlockArgument())
        rewriter_.SetInsertionPointToStart(outer.ParentBlock());
      else
        rewriter_.SetInsertionPointAfter(outer.DefiningOp());
      inner = retyping_.enter(rewriter_, outer);
    }
    rewriter_.SetOperand(op, i, inner);
  }

  void Leave(ir::Value value) {
    rewriter_.SetType(value, retyping_.inside(value.type()));
    std::vector<ir::OpOperand> outer_uses;
    for (ir::OpOperand use : value.uses())
      if (!ReadsInside(use)) outer_uses.push_back(use);
    if (outer_uses.empty()) return;
    rewriter_.SetInsertionPointAfter(value.DefiningOp());
    const ir::Value outer = retyping_.leave(rewriter_, value);
    for (ir::OpOperand use : outer_uses) rewriter_.SetOperand(use.owner(), use.index(), outer);
  }

  bool ReadsInside(ir::OpOperand use) const {
    const auto it = operands_.find(use.owner().id());
    return it != operands_.end() && HasSlot(it->second, use.index());
  }

  ir::Rewriter& rewriter_;
  const std::vector<RetypedOp>& ops_;
  const Retyping& retyping_;
  std::unordered_map<uint32_t, uint32_t> operands_;  // of each op by id: which
  std::unordered_set<uint32_t> made_inside_;         // values by id
  std::unordered_map<uint32_t, ir::Value> entered_;  // outer value by id: its inner form
};

}  // namespace

void Retype(ir::Rewriter& rewriter, const std::vector<RetypedOp>& ops, const Retyping& retyping) {
  Retyper(rewriter, ops, retyping).Run();
}

}  // namespace weft::passes

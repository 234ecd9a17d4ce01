#include "passes/fusion/independent_ops.h"

#include <algorithm>
#include <unordered_set>

namespace weft::passes {
namespace {

// Its operands name all it reads, and it may stand anywhere behind them.
bool CanMove(ir::Operation op) { return op.num_regions() == 0 && op.HasTrait(ir::kPure); }

// The op of `block` that makes the value; none for arguments and for values of blocks around.
ir::Operation DefinitionIn(ir::Block block, ir::Value value) {
  if (!value || value.IsBlockArgument() || !(value.ParentBlock() == block)) return {};
  return value.DefiningOp();
}

}  // namespace

std::vector<ir::Operation> TakeIndependent(std::vector<ir::Operation>* candidates) {
  const ir::Operation first = candidates->front(), last = candidates->back();
  std::vector<ir::Operation> taken = {first}, left;
  std::unordered_set<uint32_t> stay = {first.id()};  // those taken, and all that must follow them
  for (ir::Operation op = first; !(op == last);) {
    op = op.next();
    const std::vector<ir::Value> operands = op.operands().vec();
    const bool stays =
        !CanMove(op) || std::any_of(operands.begin(), operands.end(), [&](ir::Value v) {
          const ir::Operation definition = DefinitionIn(first.block(), v);
          return definition && stay.contains(definition.id());
        });
    const bool is_candidate = op == (*candidates)[taken.size() + left.size()];
    if (is_candidate) (stays ? left : taken).push_back(op);
    if (stays || is_candidate) stay.insert(op.id());
  }
  *candidates = std::move(left);
  return taken;
}

void MoveDefinitionsBefore(ir::Rewriter& rewriter, std::span<const ir::Value> values,
                           ir::Operation op) {
  std::vector<ir::Operation> moved;
  std::unordered_set<uint32_t> seen;
  const auto add = [&](ir::Value value) {
    const ir::Operation definition = DefinitionIn(op.block(), value);
    if (definition && op.IsBefore(definition) && seen.insert(definition.id()).second)
      moved.push_back(definition);
  };
  for (const ir::Value value : values) add(value);
  for (size_t i = 0; i < moved.size(); ++i)
    for (const ir::Value operand : ir::Operation(moved[i]).operands()) add(operand);
  std::sort(moved.begin(), moved.end(),
            [](ir::Operation a, ir::Operation b) { return a.IsBefore(b); });
  for (const ir::Operation definition : moved) rewriter.MoveBefore(definition, op);
}

}  // namespace weft::passes

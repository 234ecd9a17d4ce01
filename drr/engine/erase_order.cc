#include "drr/engine/erase_order.h"

#include <algorithm>
#include <functional>

namespace weft::drr {

std::vector<OpId> EraseOrder(const PatternGraph& graph) {
  std::vector<OpId> order;
  IdVector<SourceOp, bool> done(graph.ops.size());
  std::function<void(OpId)> visit;
  std::function<void(ValueId)> visit_value = [&](ValueId read) {
    if (!read) return;
    const SourceValue& value = graph.values[graph.Resolve(read)];
    if (value.producer) visit(value.producer);
    for (const ValueId choice : value.either) visit_value(choice);
    visit_value(value.through);
  };
  visit = [&](OpId op) {
    if (done[op]) return;
    done[op] = true;
    for (const ValueId operand : graph.ops[op].operands) visit_value(operand);
    order.push_back(op);
  };
  for (const OpId op : graph.ops.ids()) visit(op);
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace weft::drr

#include "drr/engine/erase_order.h"

#include <algorithm>

namespace weft::drr {
namespace {

class UsersLast {
 public:
  explicit UsersLast(const PatternGraph& graph) : graph_(graph), done_(graph.ops.size()) {
    order_.reserve(graph.ops.size());
    for (const OpId op : graph.ops.ids()) Visit(op);
  }
  std::vector<OpId> Take() { return std::move(order_); }

 private:
  void Visit(OpId op) {
    if (done_[op]) return;
    done_[op] = true;
    for (const ValueId operand : graph_.ops[op].operands) Visit(operand);
    order_.push_back(op);
  }
  void Visit(ValueId used) {
    if (!used) return;
    const SourceValue& value = graph_.values[graph_.Resolve(used)];
    if (value.producer) Visit(value.producer);
    for (const ValueId choice : value.either) Visit(choice);
    Visit(value.through);
  }

  const PatternGraph& graph_;
  IdVector<SourceOp, bool> done_;
  std::vector<OpId> order_;
};

}  // namespace

std::vector<OpId> EraseOrder(const PatternGraph& graph) {
  std::vector<OpId> order = UsersLast(graph).Take();
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace weft::drr

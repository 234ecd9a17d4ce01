#include "weft/optimize/arena_estimate.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/analysis/inplace.h"
#include "kernels/runtime/memory_plan.h"

namespace weft {
namespace {

using ir::Operation;
using ir::Value;

class Estimator {
 public:
  explicit Estimator(ir::Program& program) : program_(program), inplace_(program) {}

  std::optional<size_t> Run() {
    for (const Operation op : program_.body())
      if (!AddOp(op)) return std::nullopt;
    if (buffers_.size() > kMaxEstimated) return std::nullopt;
    return kernels::PlanMemory(buffers_).bytes;
  }

 private:
  static constexpr int kElsewhere = -1;

  // Of inputs and constants, too.
  int BufferOf(Value value) const {
    const auto found = buffer_of_.find(value.id());
    return found == buffer_of_.end() ? kElsewhere : found->second;
  }

  // That one operation holds more than one value does not matter: it reads them where it stands.
  void Read(Operation op) {
    for (const Value operand : op.operands())
      if (operand && BufferOf(operand) != kElsewhere) buffers_[BufferOf(operand)].last = step_;
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      for (ir::Block block : op.region(i).blocks())
        for (const Operation inner : block) Read(inner);
  }

  // Whose memory result 0 takes, if any's.
  int BufferToReuse(Operation op) const {
    if (op.HasTrait(ir::kView)) return op.num_operands() > 0 ? BufferOf(op.operand(0)) : kElsewhere;
    for (uint32_t i = 0; i < op.num_operands(); ++i) {
      const Value operand = op.operand(i);
      const int buffer = operand ? BufferOf(operand) : kElsewhere;
      if (buffer != kElsewhere && !inplace_.WhyNot(op, i) &&
          operand.type().NumBytes() == op.result(0).type().NumBytes())
        return buffer;
    }
    return kElsewhere;
  }

  // False where the memory of a result is unknown.
  bool AddOp(Operation op) {
    ++step_;
    if (op.HasTrait(ir::kConstantLike) || op.HasTrait(ir::kTerminator)) return true;
    Read(op);
    for (const Value result : op.results()) {
      if (!result.type().IsStatic() || result.type().NumBytes() < 0) return false;
      const int reused = result.index() == 0 ? BufferToReuse(op) : kElsewhere;
      if (reused != kElsewhere) {
        buffer_of_[result.id()] = reused;
      } else if (!(op.HasTrait(ir::kView) && result.index() == 0) && !IsOutput(result)) {
        buffer_of_[result.id()] = static_cast<int>(buffers_.size());
        buffers_.push_back({static_cast<size_t>(result.type().NumBytes()), step_, step_});
      }
    }
    return true;
  }

  // The caller gives the memory of those.
  bool IsOutput(Value value) {
    const Operation end = program_.body().Terminator();
    const auto users = value.users();
    return std::any_of(users.begin(), users.end(), [&](Operation user) { return user == end; });
  }

  ir::Program& program_;
  const ir::InplaceAnalysis inplace_;
  std::vector<kernels::BufferLifetime> buffers_;
  std::unordered_map<uint32_t, int> buffer_of_;  // by value id; looked up, never iterated
  int step_ = 0;
};

}  // namespace

std::optional<size_t> EstimateArena(ir::Program& program) { return Estimator(program).Run(); }

}  // namespace weft

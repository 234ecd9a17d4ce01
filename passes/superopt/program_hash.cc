#include "passes/superopt/program_hash.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/walk.h"
#include "passes/superopt/mix.h"

namespace weft::passes {
namespace {

using substitution::Mix;

uint64_t Combine(uint64_t hash, uint64_t more) { return Mix(hash * 31 + more); }

class Hasher {
 public:
  explicit Hasher(ir::Program& program) : program_(program) {}

  uint64_t Run() {
    AddArguments(program_.module(), 1);
    // A sum, because independent operations may stand in any order.
    uint64_t sum = 0;
    ir::Walk(program_, [&](ir::Operation op) { sum += Mix(Of(op)); });
    return sum;
  }

 private:
  uint64_t Of(ir::Operation op) {
    uint64_t hash = Combine(op.opcode().id(), op.attrs().id());
    const ir::Operation parent = op.ParentOp();
    const auto outer = parent ? ops_.find(parent.id()) : ops_.end();
    if (outer != ops_.end()) hash = Combine(hash, outer->second);
    for (uint32_t i = 0; i < op.num_operands(); ++i) hash = Combine(hash, OperandHash(op, i));
    for (const ir::Value v : op.results()) hash = Combine(hash, v.type().id());
    for (uint32_t i = 0; i < op.num_results(); ++i) values_[op.result(i).id()] = Combine(hash, i);
    if (op.num_regions() > 0) {
      ops_[op.id()] = hash;
      AddArguments(op, hash);
    }
    return hash;
  }

  // Of a commutative operation the smaller hash comes first.
  uint64_t OperandHash(ir::Operation op, uint32_t i) const {
    if (i < 2 && op.num_operands() >= 2 && op.HasTrait(ir::kCommutative)) {
      const auto [low, high] = std::minmax({ValueHash(op.operand(0)), ValueHash(op.operand(1))});
      return i == 0 ? low : high;
    }
    return ValueHash(op.operand(i));
  }

  uint64_t ValueHash(ir::Value value) const {
    if (!value) return 0;
    const auto found = values_.find(value.id());
    return found == values_.end() ? 0 : found->second;
  }

  void AddArguments(ir::Operation op, uint64_t hash) {
    for (uint32_t r = 0; r < op.num_regions(); ++r)
      for (const ir::Block block : op.region(r).blocks())
        for (uint32_t i = 0; i < block.num_arguments(); ++i)
          values_[block.argument(i).id()] = Combine(Combine(hash, r), i + 1);
  }

  ir::Program& program_;
  std::unordered_map<uint32_t, uint64_t> values_, ops_;
};

}  // namespace

uint64_t ProgramHash(ir::Program& program) { return Hasher(program).Run(); }

}  // namespace weft::passes

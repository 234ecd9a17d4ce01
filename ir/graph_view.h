// GraphView: raw, read-only access to a program's arrays by number, for engines that visit every
// operation (the rule engine, analyses). Numbers are Operation::id() and Value::id(). Nothing is
// checked: callers keep to numbers of what is alive. Everybody else uses the handles of
// ir/program.h.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace weft::ir {

namespace internal {
class OriginTable;
}  // namespace internal

class GraphView {
 public:
  explicit GraphView(Program* program) : p_(program) {}

  // --- records, for inner loops ---
  const internal::OpRecord& record(uint32_t op) const { return p_->ops_[op]; }
  const internal::OperandRecord& use_record(uint32_t use) const { return p_->operands_[use]; }
  const internal::ExtraValueRecord& extra_record(uint32_t value) const {  // not of a first result
    return p_->extras_[value & ~internal::kExtraBit];
  }

  // --- operations ---
  bool IsErased(uint32_t op) const { return p_->ops_[op].flags & internal::kOpErased; }
  uint16_t opcode(uint32_t op) const { return p_->ops_[op].opcode; }
  uint32_t attrs(uint32_t op) const { return p_->ops_[op].attrs; }  // AttrDict::id()
  uint32_t block(uint32_t op) const { return p_->ops_[op].block; }
  uint32_t next(uint32_t op) const { return p_->ops_[op].next; }
  bool HasRegions(uint32_t op) const { return p_->ops_[op].flags & internal::kOpHasRegions; }
  bool HasResult(uint32_t op) const { return p_->ops_[op].flags & internal::kOpHasResult; }
  bool HasExtraResults(uint32_t op) const {
    return p_->ops_[op].flags & internal::kOpHasExtraResults;
  }
  uint32_t num_operands(uint32_t op) const { return p_->NumOperands(op); }
  // The value of operand i, kNoId when it is not given.
  uint32_t operand(uint32_t op, uint32_t i) const {
    return p_->operands_[p_->ops_[op].operands + i].value;
  }
  uint32_t operand_use(uint32_t op, uint32_t i) const { return p_->ops_[op].operands + i; }
  uint32_t result(uint32_t op, uint32_t i) const { return p_->ValueOfResult(op, i); }

  // --- values ---
  // The defining op of the value; kNoId for a block argument.
  uint32_t DefiningOp(uint32_t value) const {
    if (!(value & internal::kExtraBit)) return value;
    const auto& extra = p_->extras_[value & ~internal::kExtraBit];
    return extra.is_argument ? kNoId : extra.owner;
  }
  uint32_t result_index(uint32_t value) const {
    return value & internal::kExtraBit ? p_->extras_[value & ~internal::kExtraBit].index : 0;
  }
  uint32_t use_count(uint32_t value) const { return p_->UseCount(value); }
  uint32_t type(uint32_t value) const {  // Type::id()
    return value & internal::kExtraBit ? p_->extras_[value & ~internal::kExtraBit].type
                                       : p_->ops_[value].type;
  }
  bool IsErasedValue(uint32_t value) const {
    return value & internal::kExtraBit ? p_->extras_[value & ~internal::kExtraBit].erased
                                       : IsErased(value);
  }
  // The block of an argument, or of the value's defining op.
  uint32_t block_of_value(uint32_t value) const {
    if (!(value & internal::kExtraBit)) return block(value);
    const auto& extra = p_->extras_[value & ~internal::kExtraBit];
    return extra.is_argument ? extra.owner : block(extra.owner);
  }

  // --- uses: for (uint32_t u = view.first_use(v); u != kNoId; u = view.next_use(u)) ---
  uint32_t first_use(uint32_t value) const { return p_->FirstUse(value); }
  uint32_t next_use(uint32_t use) const { return p_->operands_[use].next; }
  uint32_t previous_use(uint32_t use) const { return p_->operands_[use].prev; }
  uint32_t owner(uint32_t use) const { return p_->operands_[use].owner; }
  uint32_t used_value(uint32_t use) const { return p_->operands_[use].value; }

  // Whether any value or operation may have a name or a location.
  bool has_names() const { return p_->has_names_; }

  // What ir/origin/origin.h keeps; null where that is nothing. Defined in
  // ir/internal/program_side_tables.h.
  inline Owned<internal::OriginTable>& origins() const;

  Operation OperationAt(uint32_t op) const { return p_->OpAt(op); }
  Value ValueAt(uint32_t value) const { return p_->ValueAt(value); }

 private:
  Program* p_;
};

}  // namespace weft::ir

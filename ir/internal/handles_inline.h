// The inline parts of the handles and of Program, at the end of ir/program.h.
#pragma once

#include "ir/program.h"

namespace weft::ir {

inline void Operation::Check() const {
  if (g_check_handles && program_->ops_[id_].generation != generation_) [[unlikely]]
    internal::StaleHandle("operation");
}
inline bool Operation::IsAlive() const {
  return program_ && program_->ops_[id_].generation == generation_ &&
         !(program_->ops_[id_].flags & internal::kOpErased);
}
inline void Value::Check() const {
  if (!g_check_handles) return;
  const uint8_t current = id_ & internal::kExtraBit
                              ? program_->extras_[id_ & ~internal::kExtraBit].generation
                              : program_->ops_[id_].generation;
  if (current != generation_) [[unlikely]]
    internal::StaleHandle("value");
}
inline bool Value::IsAlive() const {
  if (!program_) return false;
  if (id_ & internal::kExtraBit)
    return program_->extras_[id_ & ~internal::kExtraBit].generation == generation_;
  return program_->ops_[id_].generation == generation_;
}

inline Value Program::ValueAt(uint32_t id) {
  if (id == kNoId) return Value();
  if (id & internal::kExtraBit)
    return Value(this, id, extras_[id & ~internal::kExtraBit].generation);
  return Value(this, id, ops_[id].generation);
}
inline uint32_t& Program::FirstUse(uint32_t value) {
  return value & internal::kExtraBit ? extras_[value & ~internal::kExtraBit].first_use
                                     : ops_[value].first_use;
}

inline Type Value::type() const {
  Check();
  const uint32_t type = id_ & internal::kExtraBit
                            ? program_->extras_[id_ & ~internal::kExtraBit].type
                            : program_->ops_[id_].type;
  return program_->context_->TypeFromId(type);
}
inline bool Value::IsBlockArgument() const {
  return (id_ & internal::kExtraBit) && program_->extras_[id_ & ~internal::kExtraBit].is_argument;
}
inline Operation Value::DefiningOp() const {
  Check();
  if (!(id_ & internal::kExtraBit)) return program_->OpAt(id_);
  const auto& extra = program_->extras_[id_ & ~internal::kExtraBit];
  return extra.is_argument ? Operation() : program_->OpAt(extra.owner);
}
inline uint32_t Value::index() const {
  return id_ & internal::kExtraBit ? program_->extras_[id_ & ~internal::kExtraBit].index : 0;
}
inline uint32_t Value::use_count() const {
  Check();
  return program_->UseCount(id_);
}
inline OpOperand Value::first_use() const {
  Check();
  const uint32_t use = program_->FirstUse(id_);
  return use == kNoId ? OpOperand() : OpOperand(program_, use);
}
inline uint32_t Program::UseCount(uint32_t value) const {
  if (value & internal::kExtraBit) return extras_[value & ~internal::kExtraBit].use_count;
  const internal::OpRecord& r = ops_[value];
  return r.flags & internal::kOpManyUses ? ManyUses(value) : r.use_count;
}
inline uint32_t Program::ValueOfResult(uint32_t op, uint32_t i) const {
  return i == 0 ? op : (ExtraResults(op).first + i - 1) | internal::kExtraBit;
}
inline IrContext* Value::context() const { return program_->context(); }

inline Operation OpOperand::owner() const { return program_->OpAt(program_->operands_[id_].owner); }
inline Value OpOperand::value() const { return program_->ValueAt(program_->operands_[id_].value); }
inline uint32_t OpOperand::index() const {
  return id_ - program_->ops_[program_->operands_[id_].owner].operands;
}
inline OpOperand OpOperand::next_use() const {
  const uint32_t next = program_->operands_[id_].next;
  return next == kNoId ? OpOperand() : OpOperand(program_, next);
}

inline Opcode Operation::opcode() const {
  Check();
  return Opcode::FromId(program_->ops_[id_].opcode);
}
inline const OpDef* Operation::def() const { return program_->context_->FindOp(opcode()); }
inline uint32_t Program::NumOperands(uint32_t op) const {
  const internal::OpRecord& r = ops_[op];
  return r.flags & internal::kOpManyOperands ? ManyOperands(op) : r.num_operands;
}
inline uint32_t Operation::num_operands() const {
  Check();
  return program_->NumOperands(id_);
}
inline Value Operation::operand(uint32_t i) const {
  WEFT_CHECK(i < num_operands(), "operand index out of range");
  return program_->ValueAt(program_->operands_[program_->ops_[id_].operands + i].value);
}
inline OpOperand Operation::op_operand(uint32_t i) const {
  WEFT_CHECK(i < num_operands(), "operand index out of range");
  return OpOperand(program_, program_->ops_[id_].operands + i);
}
inline uint32_t Operation::num_results() const {
  Check();
  const uint8_t flags = program_->ops_[id_].flags;
  if (!(flags & internal::kOpHasResult)) return 0;
  return flags & internal::kOpHasExtraResults ? 1 + program_->ExtraResults(id_).second : 1;
}
inline Value Operation::result(uint32_t i) const {
  WEFT_CHECK(i < num_results(), "result index out of range");
  return program_->ValueAt(program_->ValueOfResult(id_, i));
}
inline Operation::OperandRange Operation::operands() const { return {*this, num_operands()}; }
inline HandleRange<Operation, Value, &Operation::result> Operation::results() const {
  return {*this, num_results()};
}
inline bool Operation::IsUnused() const {
  Check();
  const internal::OpRecord& r = program_->ops_[id_];
  if (r.flags & internal::kOpHasExtraResults) [[unlikely]]
    return program_->ExtraResultsUnused(id_) && r.first_use == kNoId;
  return r.first_use == kNoId;
}
inline uint32_t Operation::num_regions() const {
  Check();
  return program_->ops_[id_].flags & internal::kOpHasRegions ? program_->NumRegions(id_) : 0;
}
inline AttrDict Operation::attrs() const {
  Check();
  return program_->context_->DictFromId(program_->ops_[id_].attrs);
}
inline Block Operation::block() const {
  Check();
  const uint32_t block = program_->ops_[id_].block;
  return block == kNoId ? Block() : program_->BlockAt(block);
}
inline Operation Operation::next() const {
  Check();
  const uint32_t next = program_->ops_[id_].next;
  return next == kNoId ? Operation() : program_->OpAt(next);
}
inline Operation Operation::prev() const {
  Check();
  const uint32_t prev = program_->ops_[id_].prev;
  return prev == kNoId ? Operation() : program_->OpAt(prev);
}
inline IrContext* Operation::context() const { return program_->context(); }
inline HandleRange<Block, Value, &Block::argument> Block::arguments() const {
  return {*this, num_arguments()};
}

}  // namespace weft::ir

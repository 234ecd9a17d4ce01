// Records, use lists and block lists of a Program: the hot paths of rewriting, forced inline into
// the mutations (ir/internal/program_mutator.cc, ir/internal/program_rewrite.cc); one record lookup each.
#pragma once

#include "ir/program.h"

namespace weft::ir {

[[gnu::always_inline]] inline uint32_t Program::AllocateOp() {
  ++num_ops_;
  if (free_op_ == kNoId) {
    WEFT_CHECK(ops_.size() < internal::kExtraBit, "too many operations");
    return ops_.Grow(1);
  }
  const uint32_t id = free_op_;
  free_op_ = ops_[id].next;
  return id;
}

// A slot whose generation has run out is never used again, so that stale handles stay detectable.
[[gnu::always_inline]] inline void Program::FreeOp(uint32_t op) {
  internal::OpRecord& r = ops_[op];
  --num_ops_;
  r.flags = internal::kOpErased;
  if (++r.generation == UINT8_MAX) return;
  r.next = free_op_;
  free_op_ = op;
}

// Freed lists of up to 8 operands are chained, by exact size, through OperandRecord::next.
[[gnu::always_inline]] inline uint32_t Program::AllocateOperands(uint32_t count) {
  if (count == 0) return kNoId;
  if (count > kMaxChained) [[unlikely]]
    return AllocateManyOperands(count);
  const uint32_t first = free_operands_[count];
  if (first == kNoId) return operands_.Grow(count);
  free_operands_[count] = operands_[first].next;
  return first;
}
[[gnu::always_inline]] inline void Program::FreeOperands(uint32_t first, uint32_t count) {
  if (count == 0) return;
  if (count > kMaxChained) [[unlikely]]
    return FreeManyOperands(first, count);
  operands_[first].next = free_operands_[count];
  free_operands_[count] = first;
}

[[gnu::always_inline]] inline void Program::CountUse(uint32_t value) {
  internal::OpRecord& r = ops_[value];
  if ((r.flags & internal::kOpManyUses) || r.use_count == UINT16_MAX) [[unlikely]] {
    AddUses(value, 1);
  } else {
    ++r.use_count;
  }
}
[[gnu::always_inline]] inline void Program::UncountUse(uint32_t value) {
  internal::OpRecord& r = ops_[value];
  if (r.flags & internal::kOpManyUses) [[unlikely]] {
    AddUses(value, -1);
  } else {
    --r.use_count;
  }
}

[[gnu::always_inline]] inline void Program::Link(uint32_t operand, uint32_t value) {
  internal::OperandRecord& use = operands_[operand];
  use.value = value;
  use.prev = kNoId;
  use.next = kNoId;
  if (value == kNoId) return;
  uint32_t* first;
  if (value & internal::kExtraBit) {
    internal::ExtraValueRecord& extra = extras_[value & ~internal::kExtraBit];
    ++extra.use_count;
    first = &extra.first_use;
  } else {
    CountUse(value);
    first = &ops_[value].first_use;
  }
  use.next = *first;
  if (*first != kNoId) operands_[*first].prev = operand;
  *first = operand;
}

[[gnu::always_inline]] inline void Program::Unlink(uint32_t operand) {
  internal::OperandRecord& use = operands_[operand];
  const uint32_t value = use.value;
  if (value == kNoId) return;
  use.value = kNoId;
  uint32_t* first;
  if (value & internal::kExtraBit) {
    internal::ExtraValueRecord& extra = extras_[value & ~internal::kExtraBit];
    --extra.use_count;
    first = &extra.first_use;
  } else {
    UncountUse(value);
    first = &ops_[value].first_use;
  }
  if (use.prev == kNoId) {
    *first = use.next;
  } else {
    operands_[use.prev].next = use.next;
  }
  if (use.next != kNoId) operands_[use.next].prev = use.prev;
}

[[gnu::always_inline]] inline void Program::Insert(uint32_t op, uint32_t block, uint32_t before) {
  internal::BlockRecord& b = blocks_[block];
  internal::OpRecord& r = ops_[op];
  uint32_t* backward = before == kNoId ? &b.last_op : &ops_[before].prev;
  r.block = block;
  r.next = before;
  r.prev = *backward;
  *backward = op;
  (r.prev == kNoId ? b.first_op : ops_[r.prev].next) = op;
  ++b.num_ops;
  if (b.ordered) NumberInserted(op);
}

[[gnu::always_inline]] inline void Program::Remove(uint32_t op) {
  internal::OpRecord& r = ops_[op];
  if (r.block == kNoId) return;
  internal::BlockRecord& b = blocks_[r.block];
  (r.prev == kNoId ? b.first_op : ops_[r.prev].next) = r.next;
  (r.next == kNoId ? b.last_op : ops_[r.next].prev) = r.prev;
  --b.num_ops;
  r.block = r.prev = r.next = kNoId;
}

}  // namespace weft::ir

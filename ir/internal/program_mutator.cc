// The primitive mutations of a Program (Program::Mutator).
#include <algorithm>
#include <unordered_map>

#include "ir/internal/program_primitives.h"
#include "ir/internal/program_side_tables.h"
#include "ir/program.h"

namespace weft::ir {

using internal::BlockRecord;
using internal::ExtraValueRecord;
using internal::kExtraBit;
using internal::OpRecord;

// --- records, operand lists, use lists, block lists ---------------------------------------------

uint32_t Program::AllocateManyOperands(uint32_t count) {
  auto it = side_->free_large_operands.lower_bound(count);
  if (it == side_->free_large_operands.end()) return operands_.Grow(count);
  const auto [size, first] = *it;
  side_->free_large_operands.erase(it);
  if (size > count) FreeOperands(first + count, size - count);
  return first;
}
void Program::FreeManyOperands(uint32_t first, uint32_t count) {
  side_->free_large_operands.emplace(count, first);
}

uint32_t Program::AllocateExtras(uint32_t count) {
  // What was freed last serves again where it was allocated together, too.
  std::vector<uint32_t>& free = side_->free_extras;
  const auto run = free.end() - std::min<ptrdiff_t>(count, std::ssize(free));
  const bool fits =
      free.end() - run == count && std::adjacent_find(run, free.end(), [](uint32_t a, uint32_t b) {
                                     return b != a + 1;
                                   }) == free.end();
  const uint32_t first = fits ? *run : extras_.Grow(count);
  if (fits) free.erase(run, free.end());
  for (uint32_t i = first; i < first + count; ++i) {
    const uint8_t generation = extras_[i].generation;
    extras_[i] = ExtraValueRecord{.generation = generation, .erased = false};
  }
  return first;
}

// A slot whose generation has run out is never used again, so that stale handles stay detectable.
void Program::FreeExtra(uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    SetName(ValueAt(i | kExtraBit), "");
    extras_[i].erased = true;
    if (++extras_[i].generation != UINT8_MAX) side_->free_extras.push_back(i);
  }
}

void Program::SetOperandCount(uint32_t op, uint32_t count) { side_->operand_counts[op] = count; }

void Program::AddExtraResults(uint32_t op, std::span<const Type> types) {
  const auto count = static_cast<uint32_t>(types.size() - 1);
  const uint32_t first = AllocateExtras(count);
  for (uint32_t i = 0; i < count; ++i) {
    extras_[first + i].type = types[i + 1].id();
    extras_[first + i].owner = op;
    extras_[first + i].index = i + 1;
  }
  ops_[op].flags |= internal::kOpHasExtraResults;
  side_->extra_results[op] = {first, count};
}

void Program::DropSideEntries(uint32_t op) {
  const uint8_t flags = ops_[op].flags;
  if (flags & internal::kOpHasExtraResults) {
    const auto [first, count] = side_->extra_results.at(op);
    FreeExtra(first, count);
    side_->extra_results.erase(op);
  }
  if (flags & internal::kOpManyUses) side_->use_counts.erase(op);
  if (flags & internal::kOpManyOperands) side_->operand_counts.erase(op);
  if (!side_->value_names.empty()) side_->value_names.erase(op);
  if (!side_->locations.empty()) side_->locations.erase(op);
}

void Program::AddUses(uint32_t value, int64_t delta) {
  if (value & kExtraBit) {
    extras_[value & ~kExtraBit].use_count += static_cast<uint32_t>(delta);
    return;
  }
  OpRecord& r = ops_[value];
  if (!(r.flags & internal::kOpManyUses)) {
    const int64_t count = r.use_count + delta;
    if (count <= UINT16_MAX) {
      r.use_count = static_cast<uint16_t>(count);
      return;
    }
    r.flags |= internal::kOpManyUses;
    side_->use_counts[value] = r.use_count;
  }
  side_->use_counts[value] += static_cast<uint32_t>(delta);
}

// --- the mutations ------------------------------------------------------------------------------

namespace {

// What is no longer there, or elsewhere, must not be mixed in: its number is that of another one.
void CheckOwn(const Program* program, Operation op) {
  WEFT_CHECK(op.IsAlive(), "using an operation that is erased");
  WEFT_CHECK(op.program() == program, "operation of another program");
}
uint32_t IdOfOwn(const Program* program, Value value) {
  if (!value) return kNoId;
  WEFT_CHECK(value.IsAlive(), "using a value that is erased");
  WEFT_CHECK(value.program() == program, "operand of another program");
  return value.id();
}
uint32_t PlaceBefore(const Program* program, Block block, Operation before) {
  if (!before) return kNoId;
  CheckOwn(program, before);
  WEFT_CHECK(before.block() == block, "the insertion point is in another block");
  return before.id();
}

}  // namespace

Operation Program::Mutator::Create(const OperationState& state, Block block, Operation before) {
  const Operation op =
      Create(state.opcode, state.operands, state.attrs, state.result_types, block, before);
  for (uint32_t i = 0; i < state.num_regions; ++i) AddRegion(op);
  if (!state.location.empty()) p_->SetLocation(op, state.location);
  return op;
}

Operation Program::Mutator::Create(Opcode opcode, std::span<const Value> operands, AttrDict attrs,
                                   std::span<const Type> result_types, Block block,
                                   Operation before) {
  WEFT_CHECK(opcode.IsValid(), "an operation needs a name");
  const uint32_t id = p_->AllocateOp();
  OpRecord& r = p_->ops_[id];
  const uint8_t generation = r.generation;
  r = OpRecord{};
  r.generation = generation;
  r.flags = 0;
  r.opcode = opcode.id();
  r.attrs = attrs.id();
  const auto num_operands = static_cast<uint32_t>(operands.size());
  if (num_operands > UINT16_MAX) {
    r.flags |= internal::kOpManyOperands;
    p_->SetOperandCount(id, num_operands);
  } else {
    r.num_operands = static_cast<uint16_t>(num_operands);
  }
  r.operands = p_->AllocateOperands(num_operands);
  for (uint32_t i = 0; i < num_operands; ++i) {
    p_->operands_[r.operands + i].owner = id;
    p_->Link(r.operands + i, IdOfOwn(p_, operands[i]));
  }
  if (!result_types.empty()) {
    r.flags |= internal::kOpHasResult;
    r.type = result_types[0].id();
    if (result_types.size() > 1) p_->AddExtraResults(id, result_types);
  }
  if (block) p_->Insert(id, block.id_, PlaceBefore(p_, block, before));
  return p_->OpAt(id);
}

// Without recursion over nesting: collects all ops below, users last.
void Program::Mutator::EraseRegions(Operation op) {
  while (op.num_regions() > 0) {
    std::vector<Operation> below, work{op};
    while (!work.empty()) {
      const Operation current = work.back();
      work.pop_back();
      for (uint32_t i = 0; i < current.num_regions(); ++i)
        for (Block b : current.region(i).blocks())
          for (Operation inner : b) {
            below.push_back(inner);
            if (inner.num_regions() > 0) work.push_back(inner);
          }
    }
    for (Operation inner : below)
      for (uint32_t i = 0; i < inner.num_operands(); ++i) SetOperand(inner, i, Value());
    std::reverse(below.begin(), below.end());  // inner regions before the ops that hold them
    for (Operation inner : below) {
      p_->DropRegions(inner.id_);
      Erase(inner);
    }
    p_->DropRegions(op.id_);
  }
}

void Program::Mutator::Erase(Operation op) {
  op.Check();
  OpRecord& r = p_->ops_[op.id_];
  if (r.flags & internal::kOpHasRegions) EraseRegions(op);
  WEFT_CHECK(op.IsUnused(), "erasing an operation whose result is used");
  const uint32_t num_operands = p_->NumOperands(op.id_);
  for (uint32_t i = 0; i < num_operands; ++i) p_->Unlink(r.operands + i);
  p_->FreeOperands(r.operands, num_operands);
  if (p_->has_names_ || (r.flags & ~internal::kOpHasResult)) p_->DropSideEntries(op.id_);
  p_->Remove(op.id_);
  p_->FreeOp(op.id_);
}

void Program::Mutator::SetOperand(Operation op, uint32_t i, Value value) {
  CheckOwn(p_, op);
  const uint32_t id = IdOfOwn(p_, value);
  WEFT_CHECK(i < op.num_operands(), "operand index out of range");
  const uint32_t operand = p_->ops_[op.id_].operands + i;
  p_->Unlink(operand);
  p_->Link(operand, id);
}

void Program::Mutator::SetOperands(Operation op, const std::vector<Value>& operands) {
  CheckOwn(p_, op);
  OpRecord& r = p_->ops_[op.id_];
  const uint32_t old_count = op.num_operands();
  const auto count = static_cast<uint32_t>(operands.size());
  for (uint32_t i = 0; i < old_count; ++i) p_->Unlink(r.operands + i);
  if (count != old_count) {
    p_->FreeOperands(r.operands, old_count);
    r.operands = p_->AllocateOperands(count);
    r.flags &= static_cast<uint8_t>(~internal::kOpManyOperands);
    r.num_operands = static_cast<uint16_t>(count);
    if (count > UINT16_MAX) {
      r.flags |= internal::kOpManyOperands;
      p_->SetOperandCount(op.id_, count);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    p_->operands_[r.operands + i].owner = op.id_;
    p_->Link(r.operands + i, IdOfOwn(p_, operands[i]));
  }
}

void Program::Mutator::ReplaceAllUses(Value from, Value to) {
  IdOfOwn(p_, from);
  IdOfOwn(p_, to);
  if (from == to) return;
  const uint32_t first = p_->FirstUse(from.id_);
  if (first == kNoId) return;
  uint32_t last = first;
  int64_t count = 0;
  for (uint32_t use = first; use != kNoId; use = p_->operands_[use].next) {
    p_->operands_[use].value = to.id_;
    last = use;
    ++count;
  }
  uint32_t& to_first = p_->FirstUse(to.id_);
  p_->operands_[last].next = to_first;
  if (to_first != kNoId) p_->operands_[to_first].prev = last;
  to_first = first;
  p_->FirstUse(from.id_) = kNoId;
  p_->AddUses(from.id_, -count);
  p_->AddUses(to.id_, count);
}

void Program::Mutator::SetAttrs(Operation op, AttrDict attrs) {
  op.Check();
  p_->ops_[op.id_].attrs = attrs.id();
}
void Program::Mutator::SetOpcode(Operation op, Opcode opcode) {
  op.Check();
  p_->ops_[op.id_].opcode = opcode.id();
}
void Program::Mutator::SetType(Value value, Type type) {
  value.Check();
  if (value.id_ & kExtraBit) {
    p_->extras_[value.id_ & ~kExtraBit].type = type.id();
  } else {
    p_->ops_[value.id_].type = type.id();
  }
}

void Program::Mutator::Move(Operation op, Block block, Operation before) {
  CheckOwn(p_, op);
  if (before && before == op) return;
  const uint32_t place = PlaceBefore(p_, block, before);
  p_->Remove(op.id_);
  p_->Insert(op.id_, block.id_, place);
}

Block Program::Mutator::AppendBlock(Region region) {
  const uint32_t id = p_->NewBlock();
  internal::RegionRecord& r = region.record();
  BlockRecord& b = p_->blocks_[id];
  b.region = region.id_;
  b.prev = r.last_block;
  (r.last_block == kNoId ? r.first_block : p_->blocks_[r.last_block].next) = id;
  r.last_block = id;
  return p_->BlockAt(id);
}

void Program::Mutator::EraseBlock(Block block) {
  std::vector<Operation> ops;
  for (Operation op : block) ops.push_back(op);
  for (Operation op : ops) {  // regions read values of the block, too
    EraseRegions(op);
    for (uint32_t i = 0; i < op.num_operands(); ++i) SetOperand(op, i, Value());
  }
  for (Operation op : ops) Erase(op);
  BlockRecord& b = block.record();
  for (uint32_t argument : b.arguments) p_->FreeExtra(argument, 1);
  internal::RegionRecord& r = p_->regions_[b.region];
  (b.prev == kNoId ? r.first_block : p_->blocks_[b.prev].next) = b.next;
  (b.next == kNoId ? r.last_block : p_->blocks_[b.next].prev) = b.prev;
  b.arguments.clear();
  b.erased = true;
  ++b.generation;
}

Value Program::Mutator::AddArgument(Block block, Type type) {
  const uint32_t id = p_->AllocateExtras(1);
  ExtraValueRecord& extra = p_->extras_[id];
  BlockRecord& b = block.record();
  extra.type = type.id();
  extra.owner = block.id_;
  extra.index = static_cast<uint32_t>(b.arguments.size());
  extra.is_argument = true;
  b.arguments.push_back(id);
  return p_->ValueAt(id | kExtraBit);
}

void Program::Mutator::EraseArgument(Block block, uint32_t i) {
  BlockRecord& b = block.record();
  WEFT_CHECK(block.argument(i).IsUnused(), "erasing a block argument that is used");
  p_->FreeExtra(b.arguments[i], 1);
  b.arguments.erase(b.arguments.begin() + i);
  for (uint32_t j = i; j < b.arguments.size(); ++j) p_->extras_[b.arguments[j]].index = j;
}

Region Program::Mutator::AddRegion(Operation op) {
  const uint32_t id = p_->NewRegion(op.id_);
  p_->ops_[op.id_].flags |= internal::kOpHasRegions;
  p_->AddRegionToOp(op.id_, id);
  return p_->RegionAt(id);
}

void Program::Mutator::SpliceOps(Block from, Block to, Operation before) {
  std::vector<Operation> ops;
  for (Operation op : from) ops.push_back(op);
  for (Operation op : ops) Move(op, to, before);
}

void Program::Mutator::MoveRegionBody(Region from, Region to) {
  WEFT_CHECK(to.empty(), "the target region must be empty");
  internal::RegionRecord &f = from.record(), &t = to.record();
  for (uint32_t b = f.first_block; b != kNoId; b = p_->blocks_[b].next)
    p_->blocks_[b].region = to.id_;
  t.first_block = f.first_block;
  t.last_block = f.last_block;
  f.first_block = f.last_block = kNoId;
}

}  // namespace weft::ir

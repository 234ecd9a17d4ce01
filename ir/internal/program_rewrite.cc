// The mutations that rewrite engines are made of, by number: one call for a whole rewrite.
#include "ir/internal/program_primitives.h"
#include "ir/program.h"
#include "ir/rewriter.h"

namespace weft::ir {

using internal::OpRecord;

Operation Program::Mutator::CreateBefore(uint32_t before, const RawOperationState& state) {
  const uint32_t id = p_->AllocateOp();
  OpRecord& r = p_->ops_[id];
  const auto num_operands = static_cast<uint16_t>(state.operands.size());
  WEFT_CHECK(state.operands.size() == num_operands, "too many operands");
  r = OpRecord{.opcode = state.opcode.id(),
               .generation = r.generation,
               .flags = internal::kOpHasResult,
               .num_operands = num_operands,
               .attrs = state.attrs.id(),
               .operands = p_->AllocateOperands(num_operands),
               .type = state.type.id()};
  for (uint32_t i = 0; i < num_operands; ++i) {
    p_->operands_[r.operands + i].owner = id;
    p_->Link(r.operands + i, state.operands[i]);
  }
  p_->Insert(id, p_->ops_[before].block, before);
  return p_->OpAt(id);
}

// Uses between erased operations are dropped without unlinking them. All other lists of uses become
// what creating the new operation, replacing and erasing the old ones would make of them.
void Program::Mutator::ReplaceInPlace(Operation op, std::span<const uint32_t> erased,
                                      const RawOperationState& state,
                                      std::vector<uint32_t>* released) {
  op.Check();
  constexpr uint8_t kGoing = internal::kOpHasResult | internal::kOpErased;
  OpRecord& r = p_->ops_[op.id_];
  const auto num_operands = static_cast<uint32_t>(state.operands.size());
  WEFT_CHECK(num_operands <= Rewriter::kMaxInPlaceOperands, "too many operands");
  WEFT_CHECK(!(r.flags & (internal::kOpHasRegions | internal::kOpHasExtraResults |
                          internal::kOpManyOperands)),
             "only a small operation of one result is replaced in place");
  uint32_t uses = 0;  // of erased operations, not met yet
  for (const uint32_t e : erased) {
    OpRecord& gone = p_->ops_[e];
    WEFT_CHECK(gone.flags == internal::kOpHasResult,
               "only small operations of one result go along");
    gone.flags = kGoing;
    uses += gone.use_count;
  }
  const auto is_going = [&](uint32_t value) {
    return !(value & internal::kExtraBit) && p_->ops_[value].flags == kGoing;
  };
  const auto drop = [&](uint32_t first, uint32_t count) {
    for (uint32_t use = first, end = first + count; use != end; ++use) {
      const uint32_t value = p_->operands_[use].value;
      if (value == kNoId) continue;
      if (is_going(value)) {
        --uses;
      } else {
        p_->Unlink(use);
        released->push_back(value);
      }
    }
  };
  drop(r.operands, r.num_operands);
  uint32_t first = r.operands;
  if (num_operands != r.num_operands) {
    p_->FreeOperands(first, r.num_operands);
    first = p_->AllocateOperands(num_operands);
    r.operands = first;
    r.num_operands = static_cast<uint16_t>(num_operands);
  }
  for (uint32_t i = 0; i < num_operands; ++i) p_->operands_[first + i].owner = op.id_;
  for (const uint32_t e : erased) {
    const OpRecord& gone = p_->ops_[e];
    drop(gone.operands, gone.num_operands);
    p_->FreeOperands(gone.operands, gone.num_operands);
    if (p_->has_names_) p_->DropSideEntries(e);
    p_->Remove(e);
  }
  WEFT_CHECK(uses == 0, "erasing an operation whose result is used");
  for (const uint32_t e : erased) p_->FreeOp(e);
  for (uint32_t i = 0; i < num_operands; ++i) p_->Link(first + i, state.operands[i]);
  r.opcode = state.opcode.id();
  r.attrs = state.attrs.id();
  r.type = state.type.id();
}

}  // namespace weft::ir

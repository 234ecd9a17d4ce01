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

namespace {

constexpr size_t kMaxOperands = Rewriter::kMaxInPlaceOperands;
static_assert(kMaxOperands == 64, "one bit for each");

// The operands of an operation that replaces another which do not read their value yet.
class OpenOperands {
 public:
  explicit OpenOperands(std::span<const uint32_t> operands)
      : operands_(operands.data()),
        open_(operands.empty() ? 0 : ~uint64_t{0} >> (kMaxOperands - operands.size())) {}
  // Takes one that is to read `value`: its number, or -1.
  int Take(uint32_t value) {
    for (uint64_t left = open_; left != 0; left &= left - 1) {
      const int i = __builtin_ctzll(left);
      if (operands_[i] != value) continue;
      open_ ^= left & -left;
      return i;
    }
    return -1;
  }
  uint64_t left() const { return open_; }

 private:
  const uint32_t* operands_;
  uint64_t open_;
};

}  // namespace

// Uses between erased operations are dropped without unlinking them, and a use by an erased one is
// handed to the new operation where that uses the same value.
void Program::Mutator::ReplaceInPlace(Operation op, std::span<const uint32_t> erased,
                                      const RawOperationState& state,
                                      std::vector<uint32_t>* released) {
  op.Check();
  constexpr uint8_t kGoing = internal::kOpHasResult | internal::kOpErased;
  OpRecord& r = p_->ops_[op.id_];
  const auto num_operands = static_cast<uint32_t>(state.operands.size());
  WEFT_CHECK(num_operands <= kMaxOperands, "too many operands");
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
  OpenOperands open(state.operands);
  uint64_t unlinked = 0;  // operands that `op` itself read already: its records may serve again
  for (uint32_t use = r.operands, end = use + r.num_operands; use != end; ++use) {
    const uint32_t value = p_->operands_[use].value;
    if (value == kNoId) continue;
    if (is_going(value)) {
      --uses;
      continue;
    }
    p_->Unlink(use);
    if (const int i = open.Take(value); i >= 0) {
      unlinked |= uint64_t{1} << i;
    } else {
      released->push_back(value);
    }
  }
  uint32_t first = r.operands;
  if (num_operands != r.num_operands) {
    p_->FreeOperands(first, r.num_operands);
    first = p_->AllocateOperands(num_operands);
    r.operands = first;
    r.num_operands = static_cast<uint16_t>(num_operands);
  }
  for (uint32_t i = 0; i < num_operands; ++i) p_->operands_[first + i].owner = op.id_;
  for (const uint32_t e : erased) {
    const uint32_t begin = p_->ops_[e].operands, end = begin + p_->ops_[e].num_operands;
    for (uint32_t use = begin; use != end; ++use) {
      const uint32_t value = p_->operands_[use].value;
      if (value == kNoId) continue;
      if (is_going(value)) {
        --uses;
      } else if (const int i = open.Take(value); i >= 0) {
        p_->TakeOver(first + static_cast<uint32_t>(i), use);
      } else {
        p_->Unlink(use);
        released->push_back(value);
      }
    }
    p_->FreeOperands(begin, end - begin);
    if (p_->has_names_) p_->DropSideEntries(e);
    p_->Remove(e);
  }
  WEFT_CHECK(uses == 0, "erasing an operation whose result is used");
  for (const uint32_t e : erased) p_->FreeOp(e);
  for (uint64_t left = open.left() | unlinked; left != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctzll(left));
    p_->Link(first + i, state.operands[i]);
  }
  r.opcode = state.opcode.id();
  r.attrs = state.attrs.id();
  r.type = state.type.id();
}

}  // namespace weft::ir

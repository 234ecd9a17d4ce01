#include "ir/rewriter.h"

#include "ir/infer.h"
#include "ir/internal/program_side_tables.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

// What the caller gives: an argument of the program, or a result of a pd.feed.
bool IsProgramInput(Value value) {
  if (value.IsBlockArgument()) return value.ParentBlock() == value.program()->body();
  const Operation op = value.DefiningOp();
  return op.num_operands() == 0 && op.HasTrait(kReadOnly) && !op.HasTrait(kPure);
}

}  // namespace

bool MeetTypes(Value from, Value to, Type* met) {
  const Type known = to.type(), stated = from.type();
  if (met) *met = known;
  if (known == stated) return true;
  if (!Compatible(known, stated)) return false;
  IrContext* context = to.program()->context();
  const bool same_block = from.ParentBlock() == to.ParentBlock();
  const Type adds =
      same_block || !stated.IsTensor() ? stated : context->UnrankedTensorType(stated.dtype());
  const Type both = Merge(context, known, adds);
  if (!(both == known) && IsProgramInput(to)) return false;
  if (met) *met = both;
  return true;
}

void Rewriter::ReplaceAllUses(Value from, Value to) {
  if (from == to) return;
  if (const auto& origins = GraphView(program_).origins()) [[unlikely]]
    origins->Replaced(from, to);
  if (Type met; !(from.type() == to.type()) && MeetTypes(from, to, &met) && !(met == to.type())) {
    SetType(to, met);
    RefineOperands(to);
  }
  const uint32_t count = from.use_count();
  Program::Mutator(program_).ReplaceAllUses(from, to);
  if (!listener_) return;
  OpOperand use = to.first_use();  // the moved uses come first
  for (uint32_t i = 0; i < count; ++i, use = use.next_use()) Modified(use.owner());
}

void Rewriter::ReplaceUsesIf(Value from, Value to,
                             const std::function<bool(OpOperand)>& condition) {
  for (OpOperand use : from.uses())
    if (condition(use)) SetOperand(use.owner(), use.index(), to);
}

void Rewriter::Replace(Operation op, std::span<const Value> values) {
  WEFT_CHECK(values.size() == op.num_results(), "one replacement per result is needed");
  if (listener_) listener_->OnReplaced(op, values);
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Value from = op.result(i);
    if (!values[i]) {
      WEFT_CHECK(from.IsUnused(), "a used result needs a replacement");
      continue;
    }
    if (!from.name().empty() && values[i].name().empty() && !values[i].IsBlockArgument())
      program_->SetName(values[i], from.name());
    ReplaceAllUses(from, values[i]);
  }
  Erase(op);
}

Operation Rewriter::CreateBefore(Operation before, const RawOperationState& state) {
  const Operation op = Program::Mutator(program_).CreateBefore(before.id(), state);
  if (const Name location = before.location(); !location.empty()) [[unlikely]]
    program_->SetLocation(op, location);
  if (listener_) listener_->OnInserted(op);
  return op;
}

void Rewriter::ReplaceInPlace(Operation op, std::span<const uint32_t> erased,
                              const RawOperationState& state) {
  released_.clear();
  Program::Mutator(program_).ReplaceInPlace(op, erased, state, &released_);
  if (const auto& origins = GraphView(program_).origins()) [[unlikely]]
    origins->ReplacedInPlace(op, erased);
  if (listener_) listener_->OnReplacedInPlace(op, erased, released_);
}

void Rewriter::AnnounceErased(Operation op) {
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    Walk(op.region(i), [&](Operation inner) { listener_->OnErased(inner); });
  listener_->OnErased(op);
}

void Rewriter::Erase(Operation op) {
  if (listener_) AnnounceErased(op);
  Program::Mutator(program_).Erase(op);
}

void Rewriter::EraseWithDeadOperands(Operation op) {
  std::vector<Operation> work{op};
  while (!work.empty()) {
    const Operation dead = work.back();
    work.pop_back();
    if (!dead.IsAlive()) continue;
    if (!(dead == op) && !(dead.IsUnused() && dead.HasTrait(kPure))) continue;
    for (Value operand : dead.operands())
      if (operand && !operand.IsBlockArgument()) work.push_back(operand.DefiningOp());
    Erase(dead);
  }
}

void Rewriter::SetOperand(Operation op, uint32_t i, Value value) {
  if (listener_ && op.operand(i)) listener_->OnReleased(op.operand(i));
  Program::Mutator(program_).SetOperand(op, i, value);
  Modified(op);
}
void Rewriter::SetOperands(Operation op, const std::vector<Value>& operands) {
  if (listener_)
    for (const Value value : op.operands())
      if (value) listener_->OnReleased(value);
  Program::Mutator(program_).SetOperands(op, operands);
  Modified(op);
}
void Rewriter::SetAttr(Operation op, std::string_view name, Attribute value) {
  SetAttrs(op, context()->With(op.attrs(), Name(name), value));
}
void Rewriter::SetAttrs(Operation op, AttrDict attrs) {
  Program::Mutator(program_).SetAttrs(op, attrs);
  Modified(op);
}
void Rewriter::SetType(Value value, Type type) {
  if (value.type() == type) return;
  Program::Mutator(program_).SetType(value, type);
  if (const Operation def = value.DefiningOp()) Modified(def);
  if (!listener_) return;
  for (Operation user : value.users()) Modified(user);
}

void Rewriter::RefineOperands(Value value) {
  IrContext* context = program_->context();
  for (;;) {
    const Operation op = value.DefiningOp();
    if (!op || !op.HasTrait(kElementwise) || op.num_operands() != 1 || !value.type().HasRank())
      return;
    const Value operand = op.operand(0);
    if (!operand || operand.IsBlockArgument() || !(operand.ParentBlock() == value.ParentBlock()) ||
        !operand.type().IsTensor())
      return;
    const Type stated = context->TensorType(operand.type().dtype(), value.type().dims());
    if (!Compatible(operand.type(), stated)) return;
    const Type refined = Merge(context, operand.type(), stated);
    if (refined == operand.type()) return;
    SetType(operand, refined);
    value = operand;
  }
}

void Rewriter::MoveBefore(Operation op, Operation before) {
  Program::Mutator(program_).Move(op, before.block(), before);
  Modified(op);
}
void Rewriter::MoveAfter(Operation op, Operation after) {
  if (after == op) return;
  Operation before = after.next();
  if (before == op) return;
  Program::Mutator(program_).Move(op, after.block(), before);
  Modified(op);
}
void Rewriter::MoveToEnd(Operation op, Block block) {
  Program::Mutator(program_).Move(op, block, Operation());
  Modified(op);
}

std::vector<Value> Rewriter::InlineBlockBefore(Block block, Operation before,
                                               std::span<const Value> arguments) {
  WEFT_CHECK(arguments.size() == block.num_arguments(), "one value per block argument is needed");
  for (uint32_t i = 0; i < arguments.size(); ++i) ReplaceAllUses(block.argument(i), arguments[i]);
  std::vector<Value> results;
  if (const Operation end = block.Terminator()) {
    results = end.operands().vec();
    Erase(end);
  }
  std::vector<Operation> ops;
  for (Operation op : block) ops.push_back(op);
  for (Operation op : ops) MoveBefore(op, before);
  return results;
}

Block Rewriter::AppendBlock(Region region) {
  const Block block = Program::Mutator(program_).AppendBlock(region);
  Modified(region.ParentOp());
  return block;
}
void Rewriter::EraseBlock(Block block) {
  const Operation parent = block.ParentOp();
  if (listener_)
    for (Operation op : block) AnnounceErased(op);
  Program::Mutator(program_).EraseBlock(block);
  Modified(parent);
}
Value Rewriter::AddArgument(Block block, Type type) {
  const Value argument = Program::Mutator(program_).AddArgument(block, type);
  Modified(block.ParentOp());
  return argument;
}
void Rewriter::EraseArgument(Block block, uint32_t i) {
  Program::Mutator(program_).EraseArgument(block, i);
  Modified(block.ParentOp());
}

}  // namespace weft::ir

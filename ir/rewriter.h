// Rewriter: the only door for changing a program. Every change is announced to the listener.
//
//   Rewriter rewriter(&program);
//   rewriter.SetInsertionPoint(op);
//   Value y = rewriter.Make<ops::Relu>({x});
//   rewriter.Replace(op, {y});          // op is gone, its users read y
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace weft::ir {

// *met (may be null): the type of `to` once it also stands where `from` stood, what either type
// states. False when the two contradict each other, or when `to` is an input of the program, which
// would have to promise more than its caller was asked for. A statement made inside a region holds
// only where the region runs: of it no more than the element type moves on to a value outside.
bool MeetTypes(Value from, Value to, Type* met = nullptr);

class Rewriter : public Builder {
 public:
  explicit Rewriter(Program* program, RewriteListener* listener = nullptr) : Builder(program) {
    set_listener(listener);
  }

  // Users of op's results read `values` instead (one per result; null is allowed where the result
  // has no use), then op is erased. Names of replaced values move on to nameless replacements, and
  // what their types state moves on as far as MeetTypes allows, to operands of elementwise ops too
  // (RefineOperands).
  void Replace(Operation op, std::span<const Value> values);
  void Replace(Operation op, std::initializer_list<Value> values) {
    Replace(op, std::span<const Value>(values.begin(), values.size()));
  }
  void ReplaceAllUses(Value from, Value to);
  void ReplaceUsesIf(Value from, Value to, const std::function<bool(OpOperand)>& condition);

  // For engines that work with numbers (ir/graph_view.h): operations of one result, of a type that
  // is known to be right. CreateBefore inserts one before `before`; ReplaceInPlace makes `op`,
  // which has one result and no regions, that operation: its uses, name and location stay. It also
  // erases `erased`, other such operations whose only users are the old `op` and each other. At
  // most kMaxInPlaceOperands operands.
  static constexpr size_t kMaxInPlaceOperands = 64;
  Operation CreateBefore(Operation before, const RawOperationState& state);
  void ReplaceInPlace(Operation op, std::span<const uint32_t> erased,
                      const RawOperationState& state);

  void Erase(Operation op);  // no result may have a use
  // Erases op and then the pure ops that lose their last use by it.
  void EraseWithDeadOperands(Operation op);

  void SetOperand(Operation op, uint32_t i, Value value);
  void SetOperands(Operation op, const std::vector<Value>& operands);
  void SetAttr(Operation op, std::string_view name, Attribute value);
  void SetAttrs(Operation op, AttrDict attrs);
  void SetType(Value value, Type type);
  // Of an elementwise op with one operand, operand and result have one shape: what the type of
  // `value` states of it becomes part of the type of the operand that it was computed from, and so on
  // up to a value of another block or a block argument.
  void RefineOperands(Value value);

  void MoveBefore(Operation op, Operation before);
  void MoveAfter(Operation op, Operation after);
  void MoveToEnd(Operation op, Block block);

  // The ops of `block` move before `before` with its arguments replaced by `arguments`; the block's
  // terminator is erased and what it returned is returned here.
  std::vector<Value> InlineBlockBefore(Block block, Operation before,
                                       std::span<const Value> arguments);
  Block AppendBlock(Region region);
  void EraseBlock(Block block);
  Value AddArgument(Block block, Type type);
  void EraseArgument(Block block, uint32_t i);

 private:
  void Modified(Operation op) {
    if (listener_) listener_->OnModified(op);
  }
  // Of `op` and all that its regions hold; there is a listener.
  void AnnounceErased(Operation op);
  std::vector<uint32_t> released_;  // by the last ReplaceInPlace()
};

}  // namespace weft::ir

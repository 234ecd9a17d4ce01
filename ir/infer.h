// What an op's Infer function sees: operands, attributes, the number of results asked for; and
// where it puts the result types or the mistake it found.
//
//   bool Relu::Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
//
// Infer never crashes on operands of any type: unknown in gives unknown out (c.Unknown()), and a
// wrong shape gives c.Fail("x has rank 2 but perm has 3 entries"); the op's name is put in front.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/program.h"

namespace weft::ir {

class InferContext {
 public:
  InferContext(IrContext* context, Opcode opcode, std::vector<Value> operands, AttrDict attrs,
               size_t num_results)
      : context_(context),
        opcode_(opcode),
        operands_(std::move(operands)),
        attrs_(attrs),
        results_(num_results) {}

  IrContext* context() const { return context_; }
  Opcode opcode() const { return opcode_; }
  size_t num_operands() const { return operands_.size(); }
  size_t num_results() const { return results_.size(); }
  bool HasOperand(size_t i) const { return i < operands_.size() && operands_[i]; }
  Value operand(size_t i) const { return i < operands_.size() ? operands_[i] : Value(); }
  Type operand_type(size_t i) const { return HasOperand(i) ? operands_[i].type() : Type(); }
  AttrDict attrs() const { return attrs_; }
  template <class O>
  typename O::template Attrs<Plain> attrs_of() const {
    return ReadAttrs<O>(attrs_);
  }

  // True when operand i is a tensor of known rank; then dims may still be symbols or unknown.
  bool Ranked(size_t i) const { return operand_type(i).HasRank(); }

  // All return true so that Infer can end in `return c.SetResult(...)`; Fail returns false.
  bool SetResult(size_t i, Type type) {
    if (i < results_.size()) results_[i] = type;
    return true;
  }
  bool SetResult(size_t i, DataType dtype, std::span<const int64_t> dims) {
    return SetResult(i, context_->TensorType(dtype, dims));
  }
  bool Unknown() { return true; }  // results that are not set keep the type they have
  bool Fail(std::string message);

  // After Infer: null where nothing is known.
  const std::vector<Type>& results() const { return results_; }
  const std::string& error() const { return error_; }

 private:
  IrContext* context_;
  Opcode opcode_;
  std::vector<Value> operands_;
  AttrDict attrs_;
  std::vector<Type> results_;
  std::string error_;
};

// Runs the op's Infer; true and no types for an op without one. On false *error says why, with the
// op's name in front.
bool InferResultTypes(IrContext* context, const OperationState& state, size_t num_results,
                      std::vector<Type>* types, std::string* error);

// Whether a value of type `actual` may stand where `expected` was inferred: the same, or one of
// them knows less (unknown element type or rank, unknown or symbolic dim).
bool Compatible(Type actual, Type expected);
// The type that knows what both know; both must be Compatible.
Type Merge(IrContext* context, Type a, Type b);

}  // namespace weft::ir

// What an op's Infer function sees: operands, attributes, the number of results asked for; and
// where it puts the result types or the mistake it found.
//
//   bool Relu::Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
//
// Infer never crashes on operands of any type: unknown in gives unknown out (c.Unknown()), and a
// wrong shape gives c.Fail("x has rank 2 but perm has 3 entries"); the op's name is put in front.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/program.h"

namespace weft::ir {

class InferContext {
 public:
  // `operands` and `results` (all null) must outlive the context.
  InferContext(IrContext* context, Opcode opcode, std::span<const Value> operands, AttrDict attrs,
               std::span<Type> results)
      : context_(context), opcode_(opcode), operands_(operands), attrs_(attrs), results_(results) {}

  IrContext* context() const { return context_; }
  Opcode opcode() const { return opcode_; }
  size_t num_operands() const { return operands_.size(); }
  size_t num_results() const { return results_.size(); }
  bool HasOperand(size_t i) const { return i < operands_.size() && operands_[i]; }
  Value operand(size_t i) const {
    saw_values_ = true;
    return i < operands_.size() ? operands_[i] : Value();
  }
  Type operand_type(size_t i) const { return HasOperand(i) ? operands_[i].type() : Type(); }
  // Whether Infer looked at more than types and attributes (a constant shape operand, say).
  bool saw_values() const { return saw_values_; }
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

  // Whether a shape that an operand must have is to be proved, not only possible: then a size that
  // is not known equals nothing, and where nothing is known of a shape the op does not fit.
  bool must_prove() const { return must_prove_; }
  void set_must_prove() { must_prove_ = true; }
  bool Fail(std::string message);

  const std::string& error() const { return error_; }

 private:
  IrContext* context_;
  Opcode opcode_;
  std::span<const Value> operands_;
  AttrDict attrs_;
  std::span<Type> results_;
  mutable bool saw_values_ = false;
  bool must_prove_ = false;
  std::string error_;
};

// Runs the op's Infer; true and null types for an op without one, null where nothing is known. On
// false *error says why, with the op's name in front. *from_types (may be null): whether the answer
// follows from the operands' types and the attributes alone.
bool InferResultTypes(IrContext* context, Opcode opcode, std::span<const Value> operands,
                      AttrDict attrs, std::span<Type> types, std::string* error,
                      bool* from_types = nullptr);
bool InferResultTypes(IrContext* context, const OperationState& state, size_t num_results,
                      std::vector<Type>* types, std::string* error);

// Whether every operand of `op` provably has the shape that the op demands of it, whatever sizes the
// inputs have at run time; *why says which has not. InferResultTypes lets pass what may be right, as
// it must for a model; a rewrite that puts in an op which broadcasts less than those it replaces
// must know.
bool ProveOperandShapes(Operation op, std::string* why);

// Remembers what InferResultTypes found for ops whose Infer looked at nothing but the operands'
// types and the attributes: programs repeat few such combinations many times. Belongs to a context.
class InferenceCache {
 public:
  static constexpr size_t kMaxOperands = 4, kMaxResults = 2;
  struct Entry {
    uint16_t opcode = 0;  // 0: empty
    uint8_t num_operands = 0, num_results = 0;
    uint32_t attrs = 0;
    std::array<uint32_t, kMaxOperands> operand_types{};  // kNoId: not given
    std::array<uint32_t, kMaxResults> result_types{};
    bool SameQuestion(const Entry& other) const {
      uint32_t different = attrs ^ other.attrs;
      for (size_t i = 0; i < kMaxOperands; ++i)  // not ==, which calls memcmp
        different |= operand_types[i] ^ other.operand_types[i];
      return different == 0 && opcode == other.opcode && num_operands == other.num_operands &&
             num_results == other.num_results;
    }
  };
  // The place of the one entry that may answer `question`.
  Entry& Slot(const Entry& question) {
    uint64_t hash = (uint64_t{question.attrs} << 16 | question.opcode) * 0x9e3779b97f4a7c15u;
    for (uint32_t type : question.operand_types) hash = (hash ^ type) * 0xff51afd7ed558ccdu;
    return slots_[(hash >> 32) & (kSlots - 1)];
  }

 private:
  static constexpr size_t kSlots = 2048;  // a power of two
  std::vector<Entry> slots_ = std::vector<Entry>(kSlots);
};

// Whether a value of type `actual` may stand where `expected` was inferred: the same, or one of
// them knows less (unknown element type or rank, unknown or symbolic dim). Vectors by element.
bool Compatible(Type actual, Type expected);
// The type that knows what both know; both must be Compatible.
Type Merge(IrContext* context, Type a, Type b);

}  // namespace weft::ir

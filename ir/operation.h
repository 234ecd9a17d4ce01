// Operation, a handle into a Program. Include ir/program.h, which defines what is declared here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/value.h"

namespace weft::ir {

class Region;

class Operation {
 public:
  constexpr Operation() = default;
  explicit operator bool() const { return program_ != nullptr; }
  bool IsAlive() const;

  Opcode opcode() const;
  std::string_view name() const { return opcode().name(); }
  const OpDef* def() const;  // null for an op that no loaded dialect defines
  template <class O>
  bool Is() const {
    return opcode() == kOpcodeOf<O>;
  }
  bool HasTrait(Trait trait) const {
    const OpDef* d = def();
    return d && d->Has(trait);
  }

  uint32_t num_operands() const;
  Value operand(uint32_t i) const;  // null when that optional operand is not given
  OpOperand op_operand(uint32_t i) const;
  uint32_t num_results() const;
  Value result(uint32_t i = 0) const;
  using OperandRange = HandleRange<Operation, Value, &Operation::operand>;
  OperandRange operands() const;
  HandleRange<Operation, Value, &Operation::result> results() const;
  bool HasOperand(uint32_t i) const { return i < num_operands() && operand(i); }
  bool IsUnused() const;  // no result has a use

  AttrDict attrs() const;
  Attribute attr(std::string_view name) const { return attrs().Get(name); }
  template <class O>
  typename O::template Attrs<Plain> attrs_of() const {
    return ReadAttrs<O>(attrs());
  }

  uint32_t num_regions() const;
  Region region(uint32_t i) const;
  Block block() const;  // the block it is in; invalid for the module
  Operation ParentOp() const;
  Operation next() const;
  Operation prev() const;
  bool IsBefore(Operation other) const;  // same block; O(1) amortised
  Name location() const;                 // source file:line:col or ONNX node name; empty if unknown

  Program* program() const { return program_; }
  IrContext* context() const;
  uint32_t id() const { return id_; }
  friend bool operator==(Operation a, Operation b) {
    return a.id_ == b.id_ && a.program_ == b.program_;
  }

 private:
  friend class Program;
  Operation(Program* program, uint32_t id, uint32_t generation)
      : program_(program), id_(id), generation_(generation) {}
  void Check() const;
  Program* program_ = nullptr;
  uint32_t id_ = kNoId;
  uint32_t generation_ = 0;
};

// What a new operation is made of.
struct OperationState {
  Opcode opcode{};
  std::vector<Value> operands{};  // a null Value is an optional operand that is not given
  AttrDict attrs{};
  std::vector<Type> result_types{};
  uint32_t num_regions = 0;
  Name location{};
};

// The same for engines that work with numbers (ir/graph_view.h): one result, no regions.
struct RawOperationState {
  Opcode opcode{};
  std::span<const uint32_t> operands{};  // of what is alive; kNoId: one that is not given
  AttrDict attrs{};
  Type type{};
};

}  // namespace weft::ir

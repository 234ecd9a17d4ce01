// Value and OpOperand (one use of a value): handles into a Program. Include ir/program.h, which
// defines what is declared here.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "ir/internal/records.h"
#include "ir/type.h"

namespace weft::ir {

class Block;
class Operation;
class OpOperand;
class Program;

// Whether handles check that what they name still exists (default: yes).
inline bool g_check_handles = true;

class Value {
 public:
  constexpr Value() = default;  // no value: an optional operand that is not given
  explicit operator bool() const { return program_ != nullptr; }
  bool IsAlive() const;  // not erased

  Type type() const;
  bool IsBlockArgument() const;
  Operation DefiningOp() const;  // invalid for a block argument
  Block ParentBlock() const;     // of the argument or of the defining op
  uint32_t index() const;        // result number or argument number
  uint32_t use_count() const;    // counts operands, not user ops
  bool HasOneUse() const { return use_count() == 1; }
  bool IsUnused() const { return use_count() == 0; }
  OpOperand first_use() const;  // then OpOperand::next_use(); newest first
  std::vector<OpOperand> uses() const;
  std::vector<Operation> users() const;  // one entry per use
  std::string_view name() const;         // "" if it has none

  Program* program() const { return program_; }
  uint32_t id() const { return id_; }
  IrContext* context() const;
  friend bool operator==(Value a, Value b) { return a.id_ == b.id_ && a.program_ == b.program_; }
  template <class H>
  friend H AbslHashValue(H h, Value v) {
    return H::combine(std::move(h), v.id_);
  }

 private:
  friend class Program;
  Value(Program* program, uint32_t id, uint32_t generation)
      : program_(program), id_(id), generation_(generation) {}
  void Check() const;
  Program* program_ = nullptr;
  uint32_t id_ = kNoId;
  uint32_t generation_ = 0;
};
using OpResult = Value;       // a Value with !IsBlockArgument()
using BlockArgument = Value;  // a Value with IsBlockArgument()

class OpOperand {
 public:
  constexpr OpOperand() = default;
  explicit operator bool() const { return program_ != nullptr; }
  Operation owner() const;
  Value value() const;
  uint32_t index() const;      // operand number in its owner
  OpOperand next_use() const;  // of the same value
  uint32_t id() const { return id_; }
  friend bool operator==(OpOperand a, OpOperand b) { return a.id_ == b.id_; }

 private:
  friend class Program;
  friend class Value;
  friend class Operation;
  OpOperand(Program* program, uint32_t id) : program_(program), id_(id) {}
  Program* program_ = nullptr;
  uint32_t id_ = kNoId;
};

// An index range that makes Value or handle objects on the fly: for (Value v : op.operands()).
template <class Owner, class Element, Element (Owner::*kGet)(uint32_t) const>
class HandleRange {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = const Element*;
    using reference = Element;
    iterator(const Owner* owner, uint32_t i) : owner_(owner), i_(i) {}
    Element operator*() const { return (owner_->*kGet)(i_); }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    friend bool operator==(iterator a, iterator b) { return a.i_ == b.i_; }

   private:
    const Owner* owner_;
    uint32_t i_;
  };
  HandleRange(const Owner& owner, uint32_t size) : owner_(owner), size_(size) {}
  iterator begin() const { return {&owner_, 0}; }
  iterator end() const { return {&owner_, size_}; }
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Element operator[](uint32_t i) const { return (owner_.*kGet)(i); }
  std::vector<Element> vec() const { return std::vector<Element>(begin(), end()); }

 private:
  Owner owner_;
  uint32_t size_;
};

}  // namespace weft::ir

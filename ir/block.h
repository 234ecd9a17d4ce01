// Block and Region, handles into a Program. Include ir/program.h, which defines what is declared
// here.
#pragma once

#include <cstdint>
#include <iterator>

#include "ir/operation.h"

namespace weft::ir {

class Block {
 public:
  constexpr Block() = default;
  explicit operator bool() const { return program_ != nullptr; }

  Region region() const;
  Operation ParentOp() const;
  Block next() const;
  Block prev() const;
  Operation front() const;  // invalid when empty
  Operation back() const;
  Operation Terminator() const;  // the last op if it has the trait; else invalid
  uint32_t num_ops() const;
  uint32_t num_arguments() const;
  Value argument(uint32_t i) const;
  HandleRange<Block, Value, &Block::argument> arguments() const;

  // for (Operation op : block). The loop may erase the op it is at, not the next one.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Operation;
    using difference_type = std::ptrdiff_t;
    using pointer = const Operation*;
    using reference = Operation;
    explicit iterator(Operation op) : op_(op), next_(op ? op.next() : op) {}
    Operation operator*() const { return op_; }
    iterator& operator++() {
      op_ = next_;
      if (op_) next_ = op_.next();
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.op_ == b.op_; }

   private:
    Operation op_, next_;
  };
  iterator begin() const { return iterator(front()); }
  iterator end() const { return iterator(Operation()); }

  Program* program() const { return program_; }
  uint32_t id() const { return id_; }
  friend bool operator==(Block a, Block b) { return a.id_ == b.id_ && a.program_ == b.program_; }

 private:
  friend class Program;
  Block(Program* program, uint32_t id, uint32_t generation)
      : program_(program), id_(id), generation_(generation) {}
  internal::BlockRecord& record() const;
  Program* program_ = nullptr;
  uint32_t id_ = kNoId;
  uint32_t generation_ = 0;
};

class Region {
 public:
  constexpr Region() = default;
  explicit operator bool() const { return program_ != nullptr; }
  Operation ParentOp() const;
  bool empty() const;
  Block front() const;  // then Block::next()
  std::vector<Block> blocks() const;
  Program* program() const { return program_; }
  uint32_t id() const { return id_; }
  friend bool operator==(Region a, Region b) { return a.id_ == b.id_ && a.program_ == b.program_; }

 private:
  friend class Program;
  Region(Program* program, uint32_t id, uint32_t generation)
      : program_(program), id_(id), generation_(generation) {}
  internal::RegionRecord& record() const;
  Program* program_ = nullptr;
  uint32_t id_ = kNoId;
  uint32_t generation_ = 0;
};

}  // namespace weft::ir

// The IR: Program > ModuleOp > Region > Block > Operation, nested to any depth, in SSA form.
//
// Storage is index-based: a Program owns arrays of 36-byte operation records, 16-byte operand
// records and 24-byte records of block arguments and further results; Operation, Value, OpOperand,
// Block and Region are small trivially-copyable handles (program, index, generation). Using a
// handle of something erased aborts with a message, in every build. A value's first result lives in
// its operation's record, so a value id is the operation's id, or has kExtraBit set. Use lists are
// intrusive: unlinking a use and use_count() are O(1).
//
// Programs are built with Builder (ir/builder.h) and changed only through Rewriter (ir/rewriter.h).
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/check.h"
#include "ir/base/owned.h"
#include "ir/base/record_array.h"
#include "ir/context.h"
#include "ir/op_def.h"

namespace weft::ir {

class Block;
class Operation;
class OpOperand;
class Program;
class Region;
class Value;

inline constexpr uint32_t kNoId = UINT32_MAX;

namespace internal {

inline constexpr uint32_t kExtraBit = 1u << 31;

enum OpFlags : uint8_t {
  kOpErased = 1 << 0,
  kOpHasRegions = 1 << 1,
  kOpHasExtraResults = 1 << 2,  // more than one result: see Program::ExtraResults
  kOpHasResult = 1 << 3,
  kOpManyUses = 1 << 4,      // use_count is kept in a side table
  kOpManyOperands = 1 << 5,  // num_operands is kept in a side table
};

struct OpRecord {
  uint16_t opcode = 0;
  uint8_t generation = 0;
  uint8_t flags = kOpErased;
  uint16_t num_operands = 0;
  uint16_t use_count = 0;
  uint32_t block = kNoId;
  uint32_t prev = kNoId;
  uint32_t next = kNoId;
  uint32_t attrs = 0;
  uint32_t operands = kNoId;  // index of the first operand record; they are consecutive
  uint32_t type = 0;
  uint32_t first_use = kNoId;
};
static_assert(sizeof(OpRecord) == 36);

struct OperandRecord {
  uint32_t value = kNoId;
  uint32_t owner = kNoId;
  uint32_t next = kNoId;
  uint32_t prev = kNoId;  // kNoId: first in the value's list
};

struct ExtraValueRecord {  // a block argument, or result 1, 2, ... of an op
  uint32_t type = 0;
  uint32_t first_use = kNoId;
  uint32_t use_count = 0;
  uint32_t owner = kNoId;  // op or block
  uint32_t index = 0;      // result or argument number
  uint8_t generation = 0;
  bool is_argument = false;
  bool erased = true;
};

struct BlockRecord {
  uint32_t region = kNoId;
  uint32_t prev = kNoId, next = kNoId;
  uint32_t first_op = kNoId, last_op = kNoId;
  uint32_t num_ops = 0;
  uint32_t generation = 0;
  bool erased = true;
  bool ordered = false;             // order numbers of its ops are valid
  std::vector<uint32_t> arguments;  // extra value ids, without kExtraBit
};

struct RegionRecord {
  uint32_t op = kNoId;
  uint32_t first_block = kNoId, last_block = kNoId;
  uint32_t generation = 0;
  bool erased = true;
};

[[noreturn]] void StaleHandle(const char* what);

}  // namespace internal

// Whether handles check that what they name still exists (default: yes).
inline bool g_check_handles = true;

// --- handles ----------------------------------------------------------------

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

// --- the owner --------------------------------------------------------------

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

class Program {
 public:
  // An empty module with one block. The context must outlive the program.
  explicit Program(IrContext* context);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  IrContext* context() const { return context_; }
  Operation module() { return OpAt(0); }
  Block body() { return module().region(0).front(); }
  // A deep copy that shares weights.
  Owned<Program> Clone() const;

  // Named weights that builtin.get_parameter refers to.
  Attribute parameter(std::string_view name) const;
  void SetParameter(std::string_view name, Attribute dense);
  void EraseParameter(std::string_view name);
  std::vector<std::string> ParameterNames() const;  // sorted

  void SetName(Value value, std::string_view name);  // "" removes it
  void SetLocation(Operation op, Name location);

  uint32_t num_operations() const { return num_ops_; }  // alive, the module included
  size_t graph_bytes() const;  // memory of the graph arrays, order numbers and locations apart
  // The handle of a live operation slot, or an invalid one: slots are 0 .. op_slots()-1.
  uint32_t op_slots() const { return ops_.size(); }
  Operation OperationAtSlot(uint32_t id);

  // --- mutation: for Builder, Rewriter, Clone and the text parser only ---------
  class Mutator;

 private:
  friend class Value;
  friend class OpOperand;
  friend class Operation;
  friend class Block;
  friend class Region;
  friend class Mutator;
  friend class GraphView;

  Operation OpAt(uint32_t id) { return Operation(this, id, ops_[id].generation); }
  Value ValueAt(uint32_t id);
  Block BlockAt(uint32_t id) { return Block(this, id, blocks_[id].generation); }
  Region RegionAt(uint32_t id) { return Region(this, id, regions_[id].generation); }
  internal::BlockRecord& block_record(uint32_t id) { return blocks_[id]; }

  uint32_t NumOperands(uint32_t op) const;
  uint32_t ManyOperands(uint32_t op) const;
  uint32_t UseCount(uint32_t value) const;
  uint32_t ManyUses(uint32_t op) const;
  std::pair<uint32_t, uint32_t> ExtraResults(uint32_t op) const;  // first, count
  bool ExtraResultsUnused(uint32_t op) const;
  uint32_t ValueOfResult(uint32_t op, uint32_t i) const;
  uint32_t& FirstUse(uint32_t value);
  void AddUses(uint32_t value, int64_t delta);
  void CountUse(uint32_t value);    // one more
  void UncountUse(uint32_t value);  // one less
  void Link(uint32_t operand, uint32_t value);
  void Unlink(uint32_t operand);
  void TakeOver(uint32_t to, uint32_t from);
  uint32_t AllocateOp();
  void FreeOp(uint32_t op);
  uint32_t AllocateOperands(uint32_t count);
  uint32_t AllocateManyOperands(uint32_t count);
  void FreeOperands(uint32_t first, uint32_t count);
  void FreeManyOperands(uint32_t first, uint32_t count);
  uint32_t AllocateExtras(uint32_t count);
  void FreeExtra(uint32_t first, uint32_t count);
  void SetOperandCount(uint32_t op, uint32_t count);
  void AddExtraResults(uint32_t op, std::span<const Type> types);  // of results 1, 2, ...
  void AddRegionToOp(uint32_t op, uint32_t region);
  void DropRegions(uint32_t op);           // whose blocks hold no ops any more
  void DropSideEntries(uint32_t op);       // before its record is freed
  uint32_t NumRegions(uint32_t op) const;  // of one that has some
  uint32_t NewBlock();
  uint32_t NewRegion(uint32_t op);
  void Insert(uint32_t op, uint32_t block, uint32_t before);  // before kNoId: at the end
  void Remove(uint32_t op);
  void NumberBlock(uint32_t block);
  void NumberInserted(uint32_t op);
  bool IsBefore(uint32_t a, uint32_t b);

  struct SideTables;
  IrContext* context_;
  RecordArray<internal::OpRecord> ops_;
  RecordArray<internal::OperandRecord> operands_;
  RecordArray<internal::ExtraValueRecord> extras_;
  std::vector<internal::BlockRecord> blocks_;
  std::vector<internal::RegionRecord> regions_;
  uint32_t num_ops_ = 0;
  uint32_t free_op_ = kNoId;  // freed records are chained through OpRecord::next
  static constexpr uint32_t kMaxChained = 8;
  uint32_t free_operands_[kMaxChained + 1] = {kNoId, kNoId, kNoId, kNoId, kNoId,
                                              kNoId, kNoId, kNoId, kNoId};
  bool has_names_ = false;  // some value or operation has had a name or location
  Owned<SideTables> side_;
};

// The primitive mutations. Rewriter wraps them with checks and listeners; nobody else uses them.
class Program::Mutator {
 public:
  explicit Mutator(Program* program) : p_(program) {}
  // Inserts before `before`, or at the end of `block` when `before` is invalid.
  Operation Create(const OperationState& state, Block block, Operation before);
  // The same without regions and location.
  Operation Create(Opcode opcode, std::span<const Value> operands, AttrDict attrs,
                   std::span<const Type> result_types, Block block, Operation before);
  Operation CreateBefore(uint32_t before, const RawOperationState& state);
  // Makes `op`, of one result and without regions, another operation at the same place, and erases
  // `erased`: other such operations, which only `op` as it was and one another read. `released`
  // receives the values that lost a reader by it.
  void ReplaceInPlace(Operation op, std::span<const uint32_t> erased,
                      const RawOperationState& state, std::vector<uint32_t>* released);
  void Erase(Operation op);  // no result may have a use; its regions go with it
  void SetOperand(Operation op, uint32_t i, Value value);
  void SetOperands(Operation op, const std::vector<Value>& operands);
  void ReplaceAllUses(Value from, Value to);
  void SetAttrs(Operation op, AttrDict attrs);
  void SetOpcode(Operation op, Opcode opcode);
  void SetType(Value value, Type type);
  void Move(Operation op, Block block, Operation before);
  Block AppendBlock(Region region);
  void EraseBlock(Block block);  // with its ops; no value in it may be used from outside
  Value AddArgument(Block block, Type type);
  void EraseArgument(Block block, uint32_t i);  // unused
  Region AddRegion(Operation op);
  void EraseRegions(Operation op);
  // Moves all ops of `from` before `before` (or to the end of `to`); `from` is left empty.
  void SpliceOps(Block from, Block to, Operation before);
  void MoveRegionBody(Region from, Region to);  // `to` must be empty

 private:
  Program* p_;
};

// --- inline parts -----------------------------------------------------------

inline void Operation::Check() const {
  if (g_check_handles && program_->ops_[id_].generation != generation_) [[unlikely]]
    internal::StaleHandle("operation");
}
inline bool Operation::IsAlive() const {
  return program_ && program_->ops_[id_].generation == generation_ &&
         !(program_->ops_[id_].flags & internal::kOpErased);
}
inline void Value::Check() const {
  if (!g_check_handles) return;
  const uint8_t current = id_ & internal::kExtraBit
                              ? program_->extras_[id_ & ~internal::kExtraBit].generation
                              : program_->ops_[id_].generation;
  if (current != generation_) [[unlikely]]
    internal::StaleHandle("value");
}
inline bool Value::IsAlive() const {
  if (!program_) return false;
  if (id_ & internal::kExtraBit)
    return program_->extras_[id_ & ~internal::kExtraBit].generation == generation_;
  return program_->ops_[id_].generation == generation_;
}

inline Value Program::ValueAt(uint32_t id) {
  if (id == kNoId) return Value();
  if (id & internal::kExtraBit)
    return Value(this, id, extras_[id & ~internal::kExtraBit].generation);
  return Value(this, id, ops_[id].generation);
}
inline uint32_t& Program::FirstUse(uint32_t value) {
  return value & internal::kExtraBit ? extras_[value & ~internal::kExtraBit].first_use
                                     : ops_[value].first_use;
}

inline Type Value::type() const {
  Check();
  const uint32_t type = id_ & internal::kExtraBit
                            ? program_->extras_[id_ & ~internal::kExtraBit].type
                            : program_->ops_[id_].type;
  return program_->context_->TypeFromId(type);
}
inline bool Value::IsBlockArgument() const {
  return (id_ & internal::kExtraBit) && program_->extras_[id_ & ~internal::kExtraBit].is_argument;
}
inline Operation Value::DefiningOp() const {
  Check();
  if (!(id_ & internal::kExtraBit)) return program_->OpAt(id_);
  const auto& extra = program_->extras_[id_ & ~internal::kExtraBit];
  return extra.is_argument ? Operation() : program_->OpAt(extra.owner);
}
inline uint32_t Value::index() const {
  return id_ & internal::kExtraBit ? program_->extras_[id_ & ~internal::kExtraBit].index : 0;
}
inline uint32_t Value::use_count() const {
  Check();
  return program_->UseCount(id_);
}
inline OpOperand Value::first_use() const {
  Check();
  const uint32_t use = program_->FirstUse(id_);
  return use == kNoId ? OpOperand() : OpOperand(program_, use);
}
inline uint32_t Program::UseCount(uint32_t value) const {
  if (value & internal::kExtraBit) return extras_[value & ~internal::kExtraBit].use_count;
  const internal::OpRecord& r = ops_[value];
  return r.flags & internal::kOpManyUses ? ManyUses(value) : r.use_count;
}
inline uint32_t Program::ValueOfResult(uint32_t op, uint32_t i) const {
  return i == 0 ? op : (ExtraResults(op).first + i - 1) | internal::kExtraBit;
}
inline IrContext* Value::context() const { return program_->context(); }

inline Operation OpOperand::owner() const { return program_->OpAt(program_->operands_[id_].owner); }
inline Value OpOperand::value() const { return program_->ValueAt(program_->operands_[id_].value); }
inline uint32_t OpOperand::index() const {
  return id_ - program_->ops_[program_->operands_[id_].owner].operands;
}
inline OpOperand OpOperand::next_use() const {
  const uint32_t next = program_->operands_[id_].next;
  return next == kNoId ? OpOperand() : OpOperand(program_, next);
}

inline Opcode Operation::opcode() const {
  Check();
  return Opcode::FromId(program_->ops_[id_].opcode);
}
inline const OpDef* Operation::def() const { return program_->context_->FindOp(opcode()); }
inline uint32_t Program::NumOperands(uint32_t op) const {
  const internal::OpRecord& r = ops_[op];
  return r.flags & internal::kOpManyOperands ? ManyOperands(op) : r.num_operands;
}
inline uint32_t Operation::num_operands() const {
  Check();
  return program_->NumOperands(id_);
}
inline Value Operation::operand(uint32_t i) const {
  WEFT_CHECK(i < num_operands(), "operand index out of range");
  return program_->ValueAt(program_->operands_[program_->ops_[id_].operands + i].value);
}
inline OpOperand Operation::op_operand(uint32_t i) const {
  WEFT_CHECK(i < num_operands(), "operand index out of range");
  return OpOperand(program_, program_->ops_[id_].operands + i);
}
inline uint32_t Operation::num_results() const {
  Check();
  const uint8_t flags = program_->ops_[id_].flags;
  if (!(flags & internal::kOpHasResult)) return 0;
  return flags & internal::kOpHasExtraResults ? 1 + program_->ExtraResults(id_).second : 1;
}
inline Value Operation::result(uint32_t i) const {
  WEFT_CHECK(i < num_results(), "result index out of range");
  return program_->ValueAt(program_->ValueOfResult(id_, i));
}
inline Operation::OperandRange Operation::operands() const { return {*this, num_operands()}; }
inline HandleRange<Operation, Value, &Operation::result> Operation::results() const {
  return {*this, num_results()};
}
inline bool Operation::IsUnused() const {
  Check();
  const internal::OpRecord& r = program_->ops_[id_];
  if (r.flags & internal::kOpHasExtraResults) [[unlikely]]
    return program_->ExtraResultsUnused(id_) && r.first_use == kNoId;
  return r.first_use == kNoId;
}
inline uint32_t Operation::num_regions() const {
  Check();
  return program_->ops_[id_].flags & internal::kOpHasRegions ? program_->NumRegions(id_) : 0;
}
inline AttrDict Operation::attrs() const {
  Check();
  return program_->context_->DictFromId(program_->ops_[id_].attrs);
}
inline Block Operation::block() const {
  Check();
  const uint32_t block = program_->ops_[id_].block;
  return block == kNoId ? Block() : program_->BlockAt(block);
}
inline Operation Operation::next() const {
  Check();
  const uint32_t next = program_->ops_[id_].next;
  return next == kNoId ? Operation() : program_->OpAt(next);
}
inline Operation Operation::prev() const {
  Check();
  const uint32_t prev = program_->ops_[id_].prev;
  return prev == kNoId ? Operation() : program_->OpAt(prev);
}
inline IrContext* Operation::context() const { return program_->context(); }
inline HandleRange<Block, Value, &Block::argument> Block::arguments() const {
  return {*this, num_arguments()};
}

}  // namespace weft::ir

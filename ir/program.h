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
#include "ir/block.h"
#include "ir/context.h"
#include "ir/op_def.h"

namespace weft::ir {

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
  // `erased`: other such operations, whose only users are the old `op` and each other. `released`
  // receives the values that lost a use by it.
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

}  // namespace weft::ir

#include "ir/internal/handles_inline.h"

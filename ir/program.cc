#include "ir/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "ir/dialects/builtin.h"

namespace weft::ir {

using internal::BlockRecord;
using internal::ExtraValueRecord;
using internal::kExtraBit;
using internal::OpRecord;

namespace internal {
void StaleHandle(const char* what) {
  std::fprintf(stderr, "weft: use of an erased %s\n", what);
  std::abort();
}
}  // namespace internal

namespace {
constexpr uint32_t kSmallLists = 9;  // operand lists of up to 8 have free lists by exact size
constexpr uint64_t kOrderStride = 1u << 20;  // between the order numbers of neighbours, when fresh
}  // namespace

// What few operations have, out of the hot records.
struct Program::SideTables {
  std::unordered_map<uint32_t, std::vector<uint32_t>> regions;                // by op
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> extra_results;  // by op: first, count
  std::unordered_map<uint32_t, uint32_t> use_counts;                          // by op, > 65535
  std::unordered_map<uint32_t, uint32_t> operand_counts;                      // by op, > 65535
  std::unordered_map<uint32_t, Name> value_names;                             // by value id
  std::unordered_map<uint32_t, Name> locations;                               // by op
  std::map<std::string, Attribute, std::less<>> parameters;
  ChunkedArray<uint64_t, 12> order;  // by op; valid where the block says so
  std::vector<uint32_t> free_operands[kSmallLists];
  std::multimap<uint32_t, uint32_t> free_large_operands;  // size -> first
  std::vector<uint32_t> free_extras;
};

Program::Program(IrContext* context) : context_(context), side_(std::make_unique<SideTables>()) {
  Mutator mutator(this);
  OperationState state{.opcode = kOpcodeOf<ModuleOp>, .num_regions = 1};
  Operation module = mutator.Create(state, Block(), Operation());
  mutator.AppendBlock(module.region(0));
}

Program::~Program() = default;

// --- allocation -------------------------------------------------------------

uint32_t Program::AllocateOp() {
  ++num_ops_;
  if (free_op_ == kNoId) {
    WEFT_CHECK(ops_.size() < kExtraBit, "too many operations");
    return ops_.Grow(1);
  }
  const uint32_t id = free_op_;
  free_op_ = ops_[id].next;
  return id;
}

uint32_t Program::AllocateOperands(uint32_t count) {
  if (count == 0) return kNoId;
  if (count < kSmallLists) {
    auto& free = side_->free_operands[count];
    if (!free.empty()) {
      const uint32_t first = free.back();
      free.pop_back();
      return first;
    }
  } else {
    auto it = side_->free_large_operands.lower_bound(count);
    if (it != side_->free_large_operands.end()) {
      const auto [size, first] = *it;
      side_->free_large_operands.erase(it);
      if (size > count) FreeOperands(first + count, size - count);
      return first;
    }
  }
  return operands_.Grow(count);
}

void Program::FreeOperands(uint32_t first, uint32_t count) {
  if (count == 0) return;
  if (count < kSmallLists) {
    side_->free_operands[count].push_back(first);
  } else {
    side_->free_large_operands.emplace(count, first);
  }
}

uint32_t Program::AllocateExtras(uint32_t count) {
  uint32_t first;
  if (count == 1 && !side_->free_extras.empty()) {
    first = side_->free_extras.back();
    side_->free_extras.pop_back();
  } else {
    first = extras_.Grow(count);
  }
  for (uint32_t i = first; i < first + count; ++i) {
    const uint8_t generation = extras_[i].generation;
    extras_[i] = ExtraValueRecord{.generation = generation, .erased = false};
  }
  return first;
}

// A slot whose generation has run out is never used again, so that stale handles stay detectable.
void Program::FreeExtra(uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    SetName(ValueAt(i | kExtraBit), "");
    extras_[i].erased = true;
    if (++extras_[i].generation != UINT8_MAX) side_->free_extras.push_back(i);
  }
}

uint32_t Program::NewBlock() {
  const uint32_t id = blocks_.Grow(1);
  blocks_[id].erased = false;
  return id;
}

uint32_t Program::NewRegion(uint32_t op) {
  const uint32_t id = regions_.Grow(1);
  regions_[id].erased = false;
  regions_[id].op = op;
  return id;
}

void Program::SetOperandCount(uint32_t op, uint32_t count) { side_->operand_counts[op] = count; }

void Program::AddExtraResults(uint32_t op, std::span<const Type> types) {
  const auto count = static_cast<uint32_t>(types.size() - 1);
  const uint32_t first = AllocateExtras(count);
  for (uint32_t i = 0; i < count; ++i) {
    extras_[first + i].type = types[i + 1].id();
    extras_[first + i].owner = op;
    extras_[first + i].index = i + 1;
  }
  ops_[op].flags |= internal::kOpHasExtraResults;
  side_->extra_results[op] = {first, count};
}

void Program::AddRegionToOp(uint32_t op, uint32_t region) { side_->regions[op].push_back(region); }

void Program::DropRegions(uint32_t op) {
  if (!(ops_[op].flags & internal::kOpHasRegions)) return;
  for (uint32_t region : side_->regions[op]) {
    for (uint32_t b = regions_[region].first_block; b != kNoId; b = blocks_[b].next) {
      for (uint32_t argument : blocks_[b].arguments) FreeExtra(argument, 1);
      blocks_[b].arguments.clear();
      blocks_[b].erased = true;
      ++blocks_[b].generation;
    }
    regions_[region].erased = true;
    ++regions_[region].generation;
  }
  side_->regions.erase(op);
  ops_[op].flags &= static_cast<uint8_t>(~internal::kOpHasRegions);
}

void Program::DropSideEntries(uint32_t op) {
  const uint8_t flags = ops_[op].flags;
  if (flags & internal::kOpHasExtraResults) {
    const auto [first, count] = side_->extra_results.at(op);
    FreeExtra(first, count);
    side_->extra_results.erase(op);
  }
  if (flags & internal::kOpManyUses) side_->use_counts.erase(op);
  if (flags & internal::kOpManyOperands) side_->operand_counts.erase(op);
  if (!side_->value_names.empty()) side_->value_names.erase(op);
  if (!side_->locations.empty()) side_->locations.erase(op);
}

// --- operands, results, uses ------------------------------------------------

uint32_t Program::ManyOperands(uint32_t op) const { return side_->operand_counts.at(op); }

uint32_t Program::UseCount(uint32_t value) const {
  if (value & kExtraBit) return extras_[value & ~kExtraBit].use_count;
  const OpRecord& r = ops_[value];
  return r.flags & internal::kOpManyUses ? side_->use_counts.at(value) : r.use_count;
}

void Program::AddUses(uint32_t value, int64_t delta) {
  if (value & kExtraBit) {
    extras_[value & ~kExtraBit].use_count += static_cast<uint32_t>(delta);
    return;
  }
  OpRecord& r = ops_[value];
  if (!(r.flags & internal::kOpManyUses)) {
    const int64_t count = r.use_count + delta;
    if (count <= UINT16_MAX) {
      r.use_count = static_cast<uint16_t>(count);
      return;
    }
    r.flags |= internal::kOpManyUses;
    side_->use_counts[value] = r.use_count;
  }
  side_->use_counts[value] += static_cast<uint32_t>(delta);
}

std::pair<uint32_t, uint32_t> Program::ExtraResults(uint32_t op) const {
  return side_->extra_results.at(op);
}

uint32_t Program::ValueOfResult(uint32_t op, uint32_t i) const {
  return i == 0 ? op : (ExtraResults(op).first + i - 1) | kExtraBit;
}

void Program::Link(uint32_t operand, uint32_t value) {
  internal::OperandRecord& use = operands_[operand];
  use.value = value;
  use.prev = kNoId;
  use.next = kNoId;
  if (value == kNoId) return;
  uint32_t& first = FirstUse(value);
  use.next = first;
  if (first != kNoId) operands_[first].prev = operand;
  first = operand;
  AddUses(value, 1);
}

void Program::Unlink(uint32_t operand) {
  internal::OperandRecord& use = operands_[operand];
  if (use.value == kNoId) return;
  if (use.prev == kNoId) {
    FirstUse(use.value) = use.next;
  } else {
    operands_[use.prev].next = use.next;
  }
  if (use.next != kNoId) operands_[use.next].prev = use.prev;
  AddUses(use.value, -1);
  use.value = kNoId;
}

// --- blocks and order -------------------------------------------------------

void Program::Insert(uint32_t op, uint32_t block, uint32_t before) {
  BlockRecord& b = blocks_[block];
  OpRecord& r = ops_[op];
  r.block = block;
  r.next = before;
  r.prev = before == kNoId ? b.last_op : ops_[before].prev;
  (r.prev == kNoId ? b.first_op : ops_[r.prev].next) = op;
  (before == kNoId ? b.last_op : ops_[before].prev) = op;
  ++b.num_ops;
  if (b.ordered) NumberInserted(op);
}

void Program::Remove(uint32_t op) {
  OpRecord& r = ops_[op];
  if (r.block == kNoId) return;
  BlockRecord& b = blocks_[r.block];
  (r.prev == kNoId ? b.first_op : ops_[r.prev].next) = r.next;
  (r.next == kNoId ? b.last_op : ops_[r.next].prev) = r.prev;
  --b.num_ops;
  r.block = r.prev = r.next = kNoId;
}

void Program::NumberBlock(uint32_t block) {
  auto& order = side_->order;
  if (order.size() < ops_.size()) order.Grow(ops_.size() - order.size());
  uint64_t number = kOrderStride;
  for (uint32_t op = blocks_[block].first_op; op != kNoId; op = ops_[op].next) {
    order[op] = number;
    number += kOrderStride;
  }
  blocks_[block].ordered = true;
}

// Order maintenance by list labelling: take the middle of the neighbours' numbers; when there is
// none, spread out the smallest enclosing run of ops whose density allows it (Bender et al., 2002).
void Program::NumberInserted(uint32_t op) {
  auto& order = side_->order;
  if (order.size() < ops_.size()) order.Grow(ops_.size() - order.size());
  const uint32_t prev = ops_[op].prev, next = ops_[op].next;
  const uint64_t low = prev == kNoId ? 0 : order[prev];
  const uint64_t high = next == kNoId ? low + 2 * kOrderStride : order[next];
  if (high - low >= 2) {
    order[op] = low + (high - low) / 2;
    return;
  }
  order[op] = low;
  uint32_t first = op, last = op;
  uint64_t count = 1;
  for (unsigned bits = 1; bits < 63; ++bits) {
    const uint64_t begin = order[op] >> bits << bits, end = begin + (uint64_t{1} << bits);
    for (uint32_t p = ops_[first].prev; p != kNoId && order[p] >= begin; p = ops_[p].prev) {
      first = p;
      ++count;
    }
    for (uint32_t n = ops_[last].next; n != kNoId && order[n] < end; n = ops_[n].next) {
      last = n;
      ++count;
    }
    uint64_t capacity = uint64_t{1} << (bits / 2 + bits / 4);  // about (2^bits)^(3/4) labels
    if (count >= capacity) continue;
    const uint64_t step = (end - begin) / (count + 1);
    uint64_t number = begin;
    for (uint32_t i = first;; i = ops_[i].next) {
      order[i] = number += step;
      if (i == last) return;
    }
  }
  blocks_[ops_[op].block].ordered = false;
}

bool Program::IsBefore(uint32_t a, uint32_t b) {
  const uint32_t block = ops_[a].block;
  WEFT_CHECK(block != kNoId && block == ops_[b].block, "IsBefore wants two ops of one block");
  if (!blocks_[block].ordered) NumberBlock(block);
  return side_->order[a] < side_->order[b];
}

// --- parameters, names, locations -------------------------------------------

Attribute Program::parameter(std::string_view name) const {
  auto it = side_->parameters.find(name);
  return it == side_->parameters.end() ? Attribute() : it->second;
}
void Program::SetParameter(std::string_view name, Attribute dense) {
  side_->parameters.insert_or_assign(std::string(name), dense);
}
void Program::EraseParameter(std::string_view name) {
  auto it = side_->parameters.find(name);
  if (it != side_->parameters.end()) side_->parameters.erase(it);
}
std::vector<std::string> Program::ParameterNames() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : side_->parameters) names.push_back(name);
  return names;
}

void Program::SetName(Value value, std::string_view name) {
  if (name.empty()) {
    if (!side_->value_names.empty()) side_->value_names.erase(value.id_);
  } else {
    side_->value_names[value.id_] = Name(name);
  }
}
void Program::SetLocation(Operation op, Name location) {
  if (location.empty()) {
    side_->locations.erase(op.id_);
  } else {
    side_->locations[op.id_] = location;
  }
}

Operation Program::OperationAtSlot(uint32_t id) {
  return ops_[id].flags & internal::kOpErased ? Operation() : OpAt(id);
}

size_t Program::graph_bytes() const {
  return ops_.bytes() + operands_.bytes() + extras_.bytes() + blocks_.bytes() + regions_.bytes();
}

std::string_view Value::name() const {
  Check();
  const auto& names = program_->side_->value_names;
  auto it = names.find(id_);
  return it == names.end() ? std::string_view() : it->second.str();
}

Name Operation::location() const {
  Check();
  const auto& locations = program_->side_->locations;
  auto it = locations.find(id_);
  return it == locations.end() ? Name() : it->second;
}

// --- handles ----------------------------------------------------------------

Block Value::ParentBlock() const {
  Check();
  if (IsBlockArgument()) return program_->BlockAt(program_->extras_[id_ & ~kExtraBit].owner);
  return DefiningOp().block();
}

std::vector<OpOperand> Value::uses() const {
  std::vector<OpOperand> result;
  for (OpOperand use = first_use(); use; use = use.next_use()) result.push_back(use);
  return result;
}

std::vector<Operation> Value::users() const {
  std::vector<Operation> result;
  for (OpOperand use = first_use(); use; use = use.next_use()) result.push_back(use.owner());
  return result;
}

bool Operation::IsUnused() const {
  for (Value v : results())
    if (!v.IsUnused()) return false;
  return true;
}

uint32_t Operation::num_regions() const {
  Check();
  if (!(program_->ops_[id_].flags & internal::kOpHasRegions)) return 0;
  return static_cast<uint32_t>(program_->side_->regions.at(id_).size());
}

Region Operation::region(uint32_t i) const {
  WEFT_CHECK(i < num_regions(), "region index out of range");
  return program_->RegionAt(program_->side_->regions.at(id_)[i]);
}

Operation Operation::ParentOp() const {
  const Block b = block();
  return b ? b.ParentOp() : Operation();
}

bool Operation::IsBefore(Operation other) const {
  Check();
  other.Check();
  return program_->IsBefore(id_, other.id_);
}

BlockRecord& Block::record() const {
  BlockRecord& r = program_->blocks_[id_];
  if (g_check_handles && r.generation != generation_) internal::StaleHandle("block");
  return r;
}
Region Block::region() const { return program_->RegionAt(record().region); }
Operation Block::ParentOp() const { return region().ParentOp(); }
Block Block::next() const {
  const uint32_t id = record().next;
  return id == kNoId ? Block() : program_->BlockAt(id);
}
Block Block::prev() const {
  const uint32_t id = record().prev;
  return id == kNoId ? Block() : program_->BlockAt(id);
}
Operation Block::front() const {
  const uint32_t id = record().first_op;
  return id == kNoId ? Operation() : program_->OpAt(id);
}
Operation Block::back() const {
  const uint32_t id = record().last_op;
  return id == kNoId ? Operation() : program_->OpAt(id);
}
Operation Block::Terminator() const {
  const Operation last = back();
  return last && last.HasTrait(kTerminator) ? last : Operation();
}
uint32_t Block::num_ops() const { return record().num_ops; }
uint32_t Block::num_arguments() const { return static_cast<uint32_t>(record().arguments.size()); }
Value Block::argument(uint32_t i) const {
  WEFT_CHECK(i < num_arguments(), "argument index out of range");
  return program_->ValueAt(record().arguments[i] | kExtraBit);
}

internal::RegionRecord& Region::record() const {
  internal::RegionRecord& r = program_->regions_[id_];
  if (g_check_handles && r.generation != generation_) internal::StaleHandle("region");
  return r;
}
Operation Region::ParentOp() const { return program_->OpAt(record().op); }
bool Region::empty() const { return record().first_block == kNoId; }
Block Region::front() const {
  const uint32_t id = record().first_block;
  return id == kNoId ? Block() : program_->BlockAt(id);
}
std::vector<Block> Region::blocks() const {
  std::vector<Block> result;
  for (Block b = front(); b; b = b.next()) result.push_back(b);
  return result;
}

}  // namespace weft::ir

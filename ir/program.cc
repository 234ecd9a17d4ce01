#include "ir/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "ir/dialects/builtin.h"
#include "ir/internal/program_side_tables.h"

namespace weft::ir {

namespace {
constexpr uint64_t kOrderStride = 1u << 20;  // between the order numbers of neighbours, when fresh
}  // namespace

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

Program::Program(IrContext* context) : context_(context), side_(new SideTables) {
  Mutator mutator(this);
  OperationState state{.opcode = kOpcodeOf<ModuleOp>, .num_regions = 1};
  Operation module = mutator.Create(state, Block(), Operation());
  mutator.AppendBlock(module.region(0));
}

Program::~Program() = default;

// --- blocks and regions -----------------------------------------------------

uint32_t Program::NewBlock() {
  const auto id = static_cast<uint32_t>(blocks_.size());
  blocks_.emplace_back().erased = false;
  return id;
}

uint32_t Program::NewRegion(uint32_t op) {
  const auto id = static_cast<uint32_t>(regions_.size());
  regions_.push_back({.op = op, .erased = false});
  return id;
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

// --- operands, results, uses ------------------------------------------------

uint32_t Program::ManyOperands(uint32_t op) const { return side_->operand_counts.at(op); }

uint32_t Program::ManyUses(uint32_t op) const { return side_->use_counts.at(op); }

bool Program::ExtraResultsUnused(uint32_t op) const {
  const auto [first, count] = ExtraResults(op);
  for (uint32_t i = first; i < first + count; ++i)
    if (extras_[i].use_count > 0) return false;
  return true;
}

std::pair<uint32_t, uint32_t> Program::ExtraResults(uint32_t op) const {
  return side_->extra_results.at(op);
}

// --- blocks and order -------------------------------------------------------

void Program::NumberBlock(uint32_t block) {
  auto& order = side_->order;
  if (order.size() < ops_.size()) order.resize(ops_.size());
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
  if (order.size() < ops_.size()) order.resize(ops_.size() + ops_.size() / 4);
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
  value.Check();
  if (name.empty()) {
    if (!side_->value_names.empty()) side_->value_names.erase(value.id_);
  } else {
    side_->value_names[value.id_] = Name(name);
    has_names_ = true;
  }
}
void Program::SetLocation(Operation op, Name location) {
  op.Check();
  if (location.empty()) {
    side_->locations.erase(op.id_);
  } else {
    side_->locations[op.id_] = location;
    has_names_ = true;
  }
}

Operation Program::OperationAtSlot(uint32_t id) {
  return ops_[id].flags & internal::kOpErased ? Operation() : OpAt(id);
}

size_t Program::graph_bytes() const {
  return ops_.bytes() + operands_.bytes() + extras_.bytes() + blocks_.size() * sizeof(BlockRecord) +
         regions_.size() * sizeof(internal::RegionRecord);
}

std::string_view Value::name() const {
  Check();
  const auto& names = program_->side_->value_names;
  if (names.empty()) return {};
  auto it = names.find(id_);
  return it == names.end() ? std::string_view() : it->second.str();
}

Name Operation::location() const {
  Check();
  const auto& locations = program_->side_->locations;
  if (locations.empty()) return {};
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

uint32_t Program::NumRegions(uint32_t op) const {
  return static_cast<uint32_t>(side_->regions.at(op).size());
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

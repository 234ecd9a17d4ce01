#include "weft/check/rewritten_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "weft/check/extract.h"

namespace weft {
namespace {

using ir::Block;
using ir::Operation;
using ir::Program;
using ir::Value;

std::unordered_map<uint32_t, size_t> OrderOf(Program& program) {
  std::unordered_map<uint32_t, size_t> order;
  ir::Walk(program, [&](Operation op) { order.emplace(op.id(), order.size()); });
  return order;
}

bool IsConstant(Operation op) { return op.HasTrait(ir::kConstantLike); }

bool SameGiven(Operation a, Operation b) {
  for (uint32_t i = 0; i < a.num_operands(); ++i)
    if (a.HasOperand(i) != b.HasOperand(i)) return false;
  return true;
}

// All of the operations themselves but what they read and hold.
bool AreAlike(Operation a, Operation b) {
  if (!(a.opcode() == b.opcode()) || !(a.attrs() == b.attrs()) ||
      a.num_operands() != b.num_operands() || a.num_results() != b.num_results() ||
      a.num_regions() != b.num_regions() || !SameGiven(a, b))
    return false;
  for (uint32_t i = 0; i < a.num_results(); ++i)
    if (!ir::Compatible(a.result(i).type(), b.result(i).type())) return false;
  if (!a.Is<ir::GetParameterOp>()) return true;
  const std::string name = a.attrs_of<ir::GetParameterOp>().parameter_name;
  return a.program()->parameter(name) == b.program()->parameter(name);
}

// Two constants of the same contents, of which passes merge many.
bool AreEqualConstants(Value a, Value b) {
  const Operation of_a = a.DefiningOp(), of_b = b.DefiningOp();
  return of_a && of_b && IsConstant(of_a) && a.index() == b.index() && AreAlike(of_a, of_b);
}

// Every operation that holds one of these.
std::unordered_set<uint32_t> HoldersOf(std::span<const Operation> ops) {
  std::unordered_set<uint32_t> holders;
  for (const Operation op : ops)
    for (Operation holder = op.ParentOp(); holder; holder = holder.ParentOp())
      holders.insert(holder.id());
  return holders;
}

}  // namespace

RewrittenRegions::RewrittenRegions(Program& before, Program& after)
    : before_(before), after_(after) {
  std::vector<Operation> copies;
  ir::Walk(after, [&](Operation op) { copies.push_back(op); });
  size_t i = 0;
  ir::Walk(before, [&](Operation op) {
    if (i < copies.size()) pairs_.push_back({op, copies[i++]});
  });
}

// --- what stays -------------------------------------------------------------------

void RewrittenRegions::PairValues(Value before, Value after) {
  to_after_[before.id()] = after;
  to_before_[after.id()] = before;
}

bool RewrittenRegions::ArePaired(Value before, Value after) const {
  if (!before || !after) return !before && !after;
  const auto it = to_after_.find(before.id());
  return it != to_after_.end() && it->second == after;
}

bool RewrittenRegions::IsPaired(Value value) const {
  return (value.program() == &before_ ? to_after_ : to_before_).contains(value.id());
}

bool RewrittenRegions::SameBlocks(Block before, Block after,
                                  std::unordered_map<uint32_t, Value>* inner) const {
  if (before.num_ops() != after.num_ops() || before.num_arguments() != after.num_arguments())
    return false;
  for (uint32_t i = 0; i < before.num_arguments(); ++i)
    (*inner)[before.argument(i).id()] = after.argument(i);
  Operation b = after.front();
  for (Operation a = before.front(); a; a = a.next(), b = b.next()) {
    if (!AreAlike(a, b)) return false;
    for (uint32_t i = 0; i < a.num_operands(); ++i) {
      if (!a.operand(i)) continue;
      const auto it = inner->find(a.operand(i).id());
      if (it != inner->end() ? !(it->second == b.operand(i))
                             : !ArePaired(a.operand(i), b.operand(i)))
        return false;
    }
    for (uint32_t r = 0; r < a.num_regions(); ++r) {
      const std::vector<Block> as = a.region(r).blocks(), bs = b.region(r).blocks();
      if (as.size() != bs.size()) return false;
      for (size_t i = 0; i < as.size(); ++i)
        if (!SameBlocks(as[i], bs[i], inner)) return false;
    }
    for (uint32_t i = 0; i < a.num_results(); ++i) (*inner)[a.result(i).id()] = b.result(i);
  }
  return true;
}

bool RewrittenRegions::StaysInside(const Pair& holder) const {
  std::unordered_map<uint32_t, Value> inner;
  for (uint32_t r = 0; r < holder.before.num_regions(); ++r) {
    const auto as = holder.before.region(r).blocks(), bs = holder.after.region(r).blocks();
    if (as.size() != bs.size()) return false;
    for (size_t i = 0; i < as.size(); ++i)
      if (!SameBlocks(as[i], bs[i], &inner)) return false;
  }
  return true;
}

// Of an operation that cannot be run: its regions take and return as much as before.
bool RewrittenRegions::OpensBlocks(const Pair& holder) {
  std::vector<std::pair<Block, Block>> pairs;
  for (uint32_t r = 0; r < holder.before.num_regions(); ++r) {
    const auto as = holder.before.region(r).blocks(), bs = holder.after.region(r).blocks();
    if (as.size() != bs.size()) return false;
    for (size_t i = 0; i < as.size(); ++i) pairs.emplace_back(as[i], bs[i]);
  }
  for (const auto& [a, b] : pairs) {
    const Operation end_a = a.Terminator(), end_b = b.Terminator();
    if (!end_a || !end_b || !AreAlike(end_a, end_b) || a.num_arguments() != b.num_arguments())
      return false;
  }
  for (const auto& [a, b] : pairs) {
    blocks_[a.id()] = b;
    for (uint32_t i = 0; i < a.num_arguments(); ++i) PairValues(a.argument(i), b.argument(i));
    staying_.push_back({a.Terminator(), b.Terminator()});
  }
  return true;
}

bool RewrittenRegions::Stays(const Pair& pair) const {
  const auto& [before, after] = pair;
  if (!after.IsAlive() || before.HasTrait(ir::kTerminator)) return false;
  const auto block = blocks_.find(before.block().id());
  return block != blocks_.end() && block->second == after.block() && AreAlike(before, after);
}

absl::Status RewrittenRegions::Settle(std::span<const Operation> cannot_run_before,
                                      std::span<const Operation> cannot_run_after) {
  holders_before_ = HoldersOf(cannot_run_before);
  holders_after_ = HoldersOf(cannot_run_after);
  closed_ = holders_before_;
  for (const Operation op : cannot_run_before) closed_.insert(op.id());
  order_before_ = OrderOf(before_);
  order_after_ = OrderOf(after_);
  const Block a = before_.body(), b = after_.body();
  const Operation end_a = a.Terminator(), end_b = b.Terminator();
  if (!end_a || !end_b || end_a.num_operands() != end_b.num_operands() ||
      a.num_arguments() != b.num_arguments())
    return ir::Unsupported("--check: the optimised program has other inputs or outputs");
  blocks_[a.id()] = b;
  for (uint32_t i = 0; i < a.num_arguments(); ++i) PairValues(a.argument(i), b.argument(i));
  for (const Pair& pair : pairs_) {
    if (!Stays(pair)) continue;
    const bool opens =
        holders_before_.contains(pair.before.id()) || holders_after_.contains(pair.after.id());
    if (opens ? !OpensBlocks(pair) : !StaysInside(pair)) continue;
    if (opens) closed_.insert(pair.before.id());
    staying_.push_back(pair);
    for (uint32_t i = 0; i < pair.before.num_results(); ++i)
      PairValues(pair.before.result(i), pair.after.result(i));
  }
  staying_.push_back({end_a, end_b});
  std::stable_sort(staying_.begin(), staying_.end(), [&](const Pair& x, const Pair& y) {
    return order_before_.at(x.before.id()) < order_before_.at(y.before.id());
  });
  return absl::OkStatus();
}

// --- regions ----------------------------------------------------------------------

Operation RewrittenRegions::MakerBefore(Value value) const {
  if (value.program() == &before_) return value.DefiningOp();
  const auto it = to_before_.find(value.id());
  return it == to_before_.end() ? Operation() : it->second.DefiningOp();
}

bool RewrittenRegions::Ends(Value value, const RewrittenRegion& region) const {
  const Operation maker = value.DefiningOp();
  if (!maker) return true;
  if (IsConstant(maker) || !IsPaired(value)) return false;
  return !region.grown_by.contains(MakerBefore(value).id());
}

RewrittenRegions::Slice RewrittenRegions::SliceOf(Program& program,
                                                  const RewrittenRegion& region) const {
  Slice slice;
  std::unordered_set<uint32_t> seen_values, seen_ops;
  std::vector<Value> work;
  for (const auto& [before, after] : region.outputs)
    work.push_back(&program == &before_ ? before : after);
  while (!work.empty()) {
    const Value value = work.back();
    work.pop_back();
    if (!seen_values.insert(value.id()).second) continue;
    if (Ends(value, region)) {
      slice.inputs.push_back(value);
    } else if (const Operation op = value.DefiningOp(); seen_ops.insert(op.id()).second) {
      slice.ops.push_back(op);
      for (const Value read : ValuesReadBy(op)) work.push_back(read);
    }
  }
  const auto& order = &program == &before_ ? order_before_ : order_after_;
  const auto place = [&](Operation op) { return order.at(op.id()); };
  std::sort(slice.ops.begin(), slice.ops.end(),
            [&](Operation a, Operation b) { return place(a) < place(b); });
  return slice;
}

// Joins outputs that need the same operations.
class RewrittenRegions::Grouping {
 public:
  explicit Grouping(const RewrittenRegions& regions) : regions_(regions) {}

  void Add(size_t output, Value value) {
    std::vector<std::pair<uint64_t, Value>> work = {{KeyOf(output), value}};
    while (!work.empty()) {
      const auto [reader, read] = work.back();
      work.pop_back();
      const Operation op = read.DefiningOp();
      if (regions_.Ends(read, {}) || IsConstant(op)) continue;
      const uint64_t key = KeyOf(op);
      const bool is_new = parents_.emplace(key, key).second;
      parents_[Root(key)] = Root(reader);
      if (!is_new) continue;
      for (const Value next : ValuesReadBy(op)) work.emplace_back(key, next);
    }
  }
  uint64_t GroupOf(size_t output) { return Root(KeyOf(output)); }

 private:
  static uint64_t KeyOf(size_t output) { return (uint64_t{2} << 32) + output; }
  uint64_t KeyOf(Operation op) const {
    return (uint64_t{op.program() == &regions_.before_} << 32) + op.id();
  }
  uint64_t Root(uint64_t key) {
    uint64_t root = key;
    for (auto it = parents_.try_emplace(key, key).first; it->second != root;
         it = parents_.find(root))
      root = it->second;
    parents_[key] = root;
    return root;
  }

  const RewrittenRegions& regions_;
  std::unordered_map<uint64_t, uint64_t> parents_;
};

std::vector<RewrittenRegion> RewrittenRegions::Find() const {
  std::vector<std::pair<Value, Value>> outputs;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const auto& [before, after] : staying_)
    for (uint32_t i = 0; i < before.num_operands(); ++i) {
      const Value a = before.operand(i), b = after.operand(i);
      if (ArePaired(a, b) || AreEqualConstants(a, b)) continue;
      if (seen.emplace(a.id(), b.id()).second) outputs.emplace_back(a, b);
    }
  Grouping groups(*this);
  for (size_t i = 0; i < outputs.size(); ++i) {
    groups.Add(i, outputs[i].first);
    groups.Add(i, outputs[i].second);
  }
  std::vector<RewrittenRegion> regions;
  std::unordered_map<uint64_t, size_t> index;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto [it, is_new] = index.emplace(groups.GroupOf(i), regions.size());
    if (is_new) regions.emplace_back();
    regions[it->second].outputs.push_back(outputs[i]);
  }
  return regions;
}

std::vector<std::pair<Value, Value>> RewrittenRegions::InputsOf(const Slice& before,
                                                                const Slice& after) const {
  std::vector<std::pair<Value, Value>> inputs;
  std::unordered_set<uint32_t> seen;
  for (const Value value : before.inputs)
    if (seen.insert(value.id()).second) inputs.emplace_back(value, to_after_.at(value.id()));
  for (const Value value : after.inputs)
    if (const Value other = to_before_.at(value.id()); seen.insert(other.id()).second)
      inputs.emplace_back(other, value);
  return inputs;
}

RewrittenRegions::Part RewrittenRegions::Cut(const RewrittenRegion& region) const {
  const Slice before = SliceOf(before_, region), after = SliceOf(after_, region);
  Extraction of_before{.ops = before.ops, .outputs = {}}, of_after{.ops = after.ops, .outputs = {}};
  const ir::ValueNumbering numbers(before_);
  std::set<std::string> names;
  for (const auto& [a, b] : region.outputs) {
    std::string name = a.name().empty() ? numbers.NameOf(a) : fmt::format("%{}", a.name());
    while (!names.insert(name).second) name += "'";  // became several values
    of_before.outputs.emplace_back(name, a);
    of_after.outputs.emplace_back(name, b);
  }
  for (const auto& [a, b] : InputsOf(before, after)) {
    of_before.inputs.push_back(a);
    of_after.inputs.push_back(b);
  }
  return {Extract(before_, of_before), Extract(after_, of_after)};
}

RewrittenRegions::Operations RewrittenRegions::OperationsOf(const RewrittenRegion& region) const {
  Operations ops{SliceOf(before_, region).ops, SliceOf(after_, region).ops};
  for (std::vector<Operation>* list : {&ops.before, &ops.after})
    if (!std::all_of(list->begin(), list->end(), IsConstant)) std::erase_if(*list, IsConstant);
  return ops;
}

bool RewrittenRegions::Grow(RewrittenRegion* region, int levels) const {
  bool grown = false;
  for (int i = 0; i < levels; ++i) {
    bool more = false;
    for (const auto& [value, other] : InputsOf(SliceOf(before_, *region), SliceOf(after_, *region)))
      if (const Operation maker = value.DefiningOp(); maker && !closed_.contains(maker.id()))
        more |= region->grown_by.insert(maker.id()).second;
    if (!more) break;
    grown = true;
  }
  return grown;
}

}  // namespace weft

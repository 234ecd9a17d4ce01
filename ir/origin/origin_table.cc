#include "ir/origin/origin_table.h"

#include <algorithm>
#include <unordered_set>

#include "ir/graph_view.h"
#include "ir/internal/program_side_tables.h"

namespace weft::ir::internal {
namespace {

const OpRecord& RecordOf(Operation op) { return GraphView(op.program()).record(op.id()); }

}  // namespace

// --- the graph ----------------------------------------------------------------------

uint32_t OriginTable::Add(Kind kind, Name name, std::span<const uint32_t> inputs) {
  nodes_.push_back({.name = name,
                    .first = static_cast<uint32_t>(inputs_.size()),
                    .count = static_cast<uint32_t>(inputs.size()),
                    .kind = kind});
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  return size() - 1;
}

uint32_t OriginTable::AddOwn(Name source, Name doc) {
  std::vector<uint32_t> inputs = {Add(Kind::kSource, source)};
  if (!doc.empty()) inputs.push_back(Add(Kind::kDoc, doc));
  return Add(Kind::kOwn, {}, inputs);
}

uint32_t OriginTable::AddKnown(const Origin& origin) {
  std::vector<uint32_t> inputs;
  for (const Name source : origin.sources) inputs.push_back(Add(Kind::kSource, source));
  for (const Name doc : origin.docs) inputs.push_back(Add(Kind::kDoc, doc));
  for (const Name rule : origin.rules) inputs = {Add(Kind::kRewrite, rule, inputs)};
  return origin.rules.empty() ? Add(Kind::kRewrite, {}, inputs) : inputs[0];
}

// A rule that goes on and on with what it made, or two values that one replaces, add nothing.
uint32_t OriginTable::AddRewrite(std::vector<uint32_t> inputs, Name rule) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  if (!inputs.empty() && inputs[0] == kNone) inputs.erase(inputs.begin());
  if (inputs.empty() && rule.empty()) return kNone;
  const auto is_of_rule = [&](uint32_t node) {
    return nodes_[node].kind == Kind::kRewrite && nodes_[node].name == rule;
  };
  if (inputs.size() == 1 && (rule.empty() || is_of_rule(inputs[0]))) return inputs[0];
  const uint32_t last = size() - 1;
  const std::span<const uint32_t> before = InputsOf(last);
  if (last != kNone && is_of_rule(last) &&
      std::equal(inputs.begin(), inputs.end(), before.begin(), before.end()))
    return last;
  return Add(Kind::kRewrite, rule, inputs);
}

namespace {

// A list of names, each once. Most are short, and plans ask for one of each operation: no set before it pays.
class NamesOnce {
 public:
  explicit NamesOnce(std::vector<Name>* names) : names_(*names) {}
  void Add(Name name) {
    constexpr size_t kFew = 16;
    if (names_.size() < kFew) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) return;
    } else {
      if (known_.empty())
        for (const Name one : names_) known_.insert(one.id());
      if (!known_.insert(name.id()).second) return;
    }
    names_.push_back(name);
  }

 private:
  std::vector<Name>& names_;
  std::unordered_set<uint32_t> known_;
};

}  // namespace

// Nodes come after their inputs and in the order of time: from a heap each comes after all of its users.
Origin OriginTable::Flatten(uint32_t node) const {
  if (node == kNone) return {};
  std::vector<uint32_t> heap = {node}, reached;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const uint32_t next = heap.back();
    heap.pop_back();
    if (!reached.empty() && reached.back() == next) continue;
    reached.push_back(next);
    for (const uint32_t input : InputsOf(next)) {
      heap.push_back(input);
      std::push_heap(heap.begin(), heap.end());
    }
  }
  Origin origin;
  NamesOnce sources(&origin.sources), rules(&origin.rules), docs(&origin.docs);
  for (auto it = reached.rbegin(); it != reached.rend(); ++it) {
    const Node& n = nodes_[*it];
    if (n.kind == Kind::kSource) sources.Add(n.name);
    if (n.kind == Kind::kDoc) docs.Add(n.name);
    if (n.kind == Kind::kRewrite && !n.name.empty()) rules.Add(n.name);
  }
  return origin;
}

// --- operations ---------------------------------------------------------------------

uint32_t OriginTable::Of(Operation op) const {
  if (op.id() >= entries_.size()) return kNone;
  const Entry& entry = entries_[op.id()];
  return entry.generation == RecordOf(op).generation ? entry.node : kNone;
}

void OriginTable::Set(Operation op, uint32_t node) {
  if (op.id() >= entries_.size()) entries_.resize(op.id() + op.id() / 4 + 1);
  entries_[op.id()] = {node, RecordOf(op).generation};
}

void OriginTable::Give(Operation op, uint32_t before, uint32_t after) {
  std::vector<Operation> work = {op};
  while (!work.empty()) {
    const Operation next = work.back();
    work.pop_back();
    if (Of(next) != before || (next.HasTrait(kConstantLike) && !(next == op))) continue;
    Set(next, after);
    for (const Value operand : next.operands())
      if (operand && !operand.IsBlockArgument()) work.push_back(operand.DefiningOp());
  }
}

// An operation that was there before computes what it computed before, unless the two are equal.
// One that this pass has made may stand for several, which it replaces one by one.
void OriginTable::Replaced(Value from, Value to) {
  if (!records || held || from.IsBlockArgument() || to.IsBlockArgument()) return;
  const Operation gone = from.DefiningOp(), made = to.DefiningOp();
  const uint32_t origin = Of(gone), known = Of(made);
  if (gone == made || origin == kNone || origin == known) return;
  const uint32_t joined = AddRewrite({known, origin}, scope_rule);
  if (joined == known) return;
  if (known == kNone || known >= scope_first) {
    Give(made, known, joined);
  } else if (gone.opcode() == made.opcode() && gone.attrs() == made.attrs() &&
             !made.HasTrait(kConstantLike)) {  // one of those may be read by all of the program
    Set(made, joined);
  }
}

void OriginTable::ReplacedInPlace(Operation op, std::span<const uint32_t> erased) {
  if (held) return;
  const uint32_t known = Of(op);
  std::vector<uint32_t> inputs = {known};
  for (const uint32_t gone : erased)
    if (gone < entries_.size()) inputs.push_back(entries_[gone].node);
  const uint32_t joined = AddRewrite(std::move(inputs), records ? scope_rule : Name());
  Set(op, joined);
  if (!records) return;
  for (const Value operand : op.operands())  // what was made along with it
    if (operand && !operand.IsBlockArgument() && !operand.DefiningOp().HasTrait(kConstantLike))
      Give(operand.DefiningOp(), kNone, joined);
}

// --- copies -------------------------------------------------------------------------

OriginTable* OriginTable::Copy() const {
  auto* copy = new OriginTable(*this);
  copy->entries_.clear();
  copy->copied_ = this;
  copy->copied_nodes_ = size();
  return copy;
}

void OriginTable::Copied(Operation from, Operation to) {
  const OriginTable* source = GraphView(from.program()).origins().get();
  const uint32_t node = source ? source->Of(from) : kNone;
  if (node == kNone) return;
  Owned<OriginTable>& target = GraphView(to.program()).origins();
  if (!target) {
    target = Owned<OriginTable>(new OriginTable);
    target->records = source->records;
  }
  if (target.get() == source || (target->copied_ == source && node < target->copied_nodes_)) {
    target->Set(to, node);
    return;
  }
  const Origin origin = source->Flatten(node);
  const Name doc = origin.docs.empty() ? Name() : origin.docs[0];
  target->Set(to, source->IsOwn(node) && !origin.sources.empty()
                      ? target->AddOwn(origin.sources[0], doc)
                      : target->AddKnown(origin));
}

}  // namespace weft::ir::internal

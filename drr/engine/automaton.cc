#include "drr/engine/automaton.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "drr/engine/pattern_uses.h"
#include "ir/base/unique_table.h"

namespace weft::drr {
namespace {

constexpr size_t kMaxStates = UINT16_MAX;
constexpr size_t kMaxSymbols = UINT16_MAX;

}  // namespace

// Vectors as keys: built rarely, so ordered maps will do.
struct TreeAutomaton::Tables {
  std::unordered_multimap<uint64_t, uint32_t> nodes;       // by HashOf: candidates to equal
  std::unordered_map<uint64_t, uint32_t> symbol_of_attrs;  // opcode, attributes
  std::map<std::vector<uint32_t>, uint32_t> symbols;
  std::map<std::vector<uint32_t>, State> states;
  std::map<std::vector<uint32_t>, State> long_transitions;  // symbol, operand states
};

TreeAutomaton::TreeAutomaton(const std::vector<std::shared_ptr<const Rule>>& rules)
    : tables_(std::make_unique<Tables>()) {
  for (uint32_t i = 0; i < rules.size(); ++i) {
    context_ = rules[i]->graph.context();
    benefits_.push_back(rules[i]->benefit);
    AddRule(*rules[i], i);
  }
  symbols_.emplace_back();  // number 0 marks empty slots
  states_.resize(3);        // kNothing, kNotGiven, kFull
  const auto by_benefit = [&](uint32_t a, uint32_t b) { return benefits_[a] > benefits_[b]; };
  std::stable_sort(anywhere_.begin(), anywhere_.end(), by_benefit);
  states_[kNothing].accepted = anywhere_;
  states_[kNothing].secondary_root = secondary_anywhere_;
  states_[kFull].max_uses = states_[kFull].max_interior_uses = kAnyUses;
  states_[kFull].secondary_root = true;
  for (uint32_t i = 0; i < rules.size(); ++i) states_[kFull].accepted.push_back(i);
  std::stable_sort(states_[kFull].accepted.begin(), states_[kFull].accepted.end(), by_benefit);
  for (const StateEntry& state : states_) marks_.push_back(MarksOf(state));
  IndexOpcodes();
  slots_.resize(256);
  mask_ = slots_.size() - 1;
}

TreeAutomaton::~TreeAutomaton() = default;

// Whether states say what such an op is and what it reads.
bool TreeAutomaton::IsTracked(const SourceOp& op) {
  return op.times == Times::kOnce && (!op.alternatives.empty() || op.traits != ir::kNone);
}

void TreeAutomaton::AddRule(const Rule& rule, uint32_t number) {
  const PatternGraph& graph = rule.graph;
  IdVector<SourceOp, int64_t> done(graph.ops.size(), -1);
  for (OpId op : graph.ops.ids()) NodeOf(graph, op, done);
  const std::vector<OpId> first = graph.RootProducers();
  for (OpId root : first) {
    if (done[root] >= 0) nodes_[done[root]].rules.push_back(number);
    if (done[root] < 0 && (anywhere_.empty() || anywhere_.back() != number))
      anywhere_.push_back(number);
  }
  for (OpId root : graph.roots()) {
    if (std::find(first.begin(), first.end(), root) != first.end()) continue;
    if (done[root] >= 0) nodes_[done[root]].secondary_root = true;
    secondary_anywhere_ |= done[root] < 0;
  }
  const PatternUses uses = UsesInside(graph);
  NoteInexact(graph, done, uses);
  for (OpId op : graph.ops.ids()) {
    if (done[op] < 0) continue;
    Node& node = nodes_[done[op]];
    const Keeping keeps = KeepsResults(graph, op);
    node.max_uses = std::max(node.max_uses, uses[op] > 0 && keeps.some ? kAnyUses : uses[op]);
    node.max_interior_uses = std::max(node.max_interior_uses, keeps.all ? 0 : uses[op]);
  }
}

TreeAutomaton::KeyPlan& TreeAutomaton::KeyOf(uint16_t opcode) {
  if (keys_.size() <= opcode) keys_.resize(opcode + 1);
  return keys_[opcode];
}

void TreeAutomaton::NoteInexact(const PatternGraph& graph, const IdVector<SourceOp, int64_t>& done,
                                const IdVector<SourceOp, uint32_t>& uses) {
  for (OpId op : graph.ops.ids()) {
    if (done[op] < 0) inexact_anywhere_ |= !IsShallowExclusion(graph, op, uses);
    if (done[op] < 0 || graph.ops[op].regions.empty()) continue;
    for (const Alternative& a : nodes_[done[op]].alternatives) KeyOf(a.opcode).looks_into = true;
  }
  const bool is_exact =
      std::all_of(graph.ops.begin(), graph.ops.end(),
                  [](const SourceOp& op) { return IsTracked(op) && op.regions.empty(); }) &&
      std::none_of(graph.values.begin(), graph.values.end(), [](const SourceValue& v) {
        return v.list || v.outside || v.through || !v.nots.empty() ||
               v.escape == Escape::kRecompute;
      });
  if (is_exact) return;
  const IdVector<SourceOp, bool> top = TopOps(graph);
  for (OpId op : graph.ops.ids()) {
    if (done[op] < 0 || top[op]) continue;
    for (const Alternative& a : nodes_[done[op]].alternatives) KeyOf(a.opcode).inexact = true;
  }
  for (const SourceValue& v : graph.values)
    for (const SkippedOp& skipped : v.skipped) KeyOf(skipped.def->opcode.id()).inexact = true;
}

// `done` holds the nodes of the rule's ops that are known already, and stays -1 for an op that may
// have any name; source graphs are acyclic.
int64_t TreeAutomaton::NodeOf(const PatternGraph& graph, OpId op,
                              IdVector<SourceOp, int64_t>& done) {
  if (done[op] >= 0) return done[op];
  const SourceOp& source = graph.ops[op];
  Node node;
  for (const drr::Alternative& a : source.alternatives) {
    Alternative alternative{a.def->opcode.id(), a.def->Has(ir::kCommutative), {}};
    for (const AttrPattern& attr : a.attrs)
      if (attr.kind == AttrPattern::kIsOneOf)
        alternative.checks.push_back({attr.name, attr.values});
    node.alternatives.push_back(std::move(alternative));
  }
  if (!source.opcode.empty())
    node.alternatives.push_back({ir::Opcode::FindOrAdd(source.opcode).id(), false, {}});
  if (source.traits != ir::kNone)
    for (const ir::OpDef* def : graph.context()->Ops()) {
      if ((def->traits & source.traits) != source.traits) continue;
      node.alternatives.push_back({def->opcode.id(), def->Has(ir::kCommutative), {}});
      // What lies in them matters.
      if (def->info->num_regions != 0) KeyOf(def->opcode.id()).looks_into = true;
    }
  if (node.alternatives.empty()) return -1;
  const bool has_lists = std::any_of(
      source.operands.begin(), source.operands.end(),
      [&](ValueId operand) { return operand && graph.values[graph.Resolve(operand)].list; });
  if (IsTracked(source) && !has_lists)
    for (ValueId operand : source.operands)
      node.operands.push_back(operand ? NeedOf(graph, operand, done) : Need{{}, false, true});
  return done[op] = Intern(std::move(node));
}

TreeAutomaton::Need TreeAutomaton::NeedOf(const PatternGraph& graph, ValueId value,
                                          IdVector<SourceOp, int64_t>& done) {
  const SourceValue& v = graph.values[graph.Resolve(value)];
  Need need;
  need.optional = v.optional;
  std::vector<ValueId> alternatives = v.either;
  if (alternatives.empty()) alternatives.push_back(value);
  for (ValueId alternative : alternatives) {
    const SourceValue& a = graph.values[graph.Resolve(alternative)];
    const bool tracked =
        a.either.empty() && !a.through && !a.list && a.producer && IsTracked(graph.ops[a.producer]);
    const int64_t node = tracked ? NodeOf(graph, a.producer, done) : -1;
    if (node < 0) {
      need.anything = true;
    } else {
      need.nodes.push_back(static_cast<uint32_t>(node));
    }
  }
  if (need.anything) need.nodes.clear();
  return need;
}

// Of opcodes and operands; literal attributes, which seldom tell nodes apart, are left to be compared.
uint64_t TreeAutomaton::HashOf(const Node& node) {
  ir::Hasher hasher;
  for (const Alternative& a : node.alternatives) hasher.Add(a.opcode);
  for (const Need& need : node.operands) {
    hasher.Add(uint64_t{need.anything} << 33 | uint64_t{need.optional} << 32 | need.nodes.size());
    for (const uint32_t n : need.nodes) hasher.Add(n);
  }
  return hasher.hash();
}

uint32_t TreeAutomaton::Intern(Node node) {
  const uint64_t hash = HashOf(node);
  const auto [first, last] = tables_->nodes.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (nodes_[it->second].alternatives == node.alternatives &&
        nodes_[it->second].operands == node.operands)
      return it->second;
  const auto number = static_cast<uint32_t>(nodes_.size());
  tables_->nodes.emplace(hash, number);
  nodes_.push_back(std::move(node));
  return number;
}

void TreeAutomaton::IndexOpcodes() {
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    for (uint32_t a = 0; a < node.alternatives.size(); ++a) {
      const Alternative& alternative = node.alternatives[a];
      if (opcodes_.size() <= alternative.opcode) opcodes_.resize(alternative.opcode + 1);
      OpcodeEntry& entry = opcodes_[alternative.opcode];
      entry.nodes.emplace_back(n, a);
      for (uint32_t i = 0; i < node.operands.size(); ++i) {
        if (node.operands[i].anything) continue;
        entry.operands.push_back(i);
        if (alternative.commutative && i < 2) entry.operands.push_back(1 - i);
      }
    }
  }
  keys_.resize(std::max(keys_.size(), opcodes_.size()));
  for (KeyPlan& key : keys_) {
    key.inexact |= inexact_anywhere_;
    key.looks_into |= inexact_anywhere_;
  }
  for (uint32_t opcode = 0; opcode < opcodes_.size(); ++opcode) {
    OpcodeEntry& entry = opcodes_[opcode];
    if (entry.nodes.empty()) continue;
    std::sort(entry.operands.begin(), entry.operands.end());
    entry.operands.erase(std::unique(entry.operands.begin(), entry.operands.end()),
                         entry.operands.end());
    KeyPlan& key = keys_[opcode];
    const bool fits = entry.operands.size() <= kPacked &&
                      (entry.operands.empty() || entry.operands.back() <= UINT8_MAX);
    key.num_packed = fits ? static_cast<uint8_t>(entry.operands.size()) : kLong;
    for (size_t k = 0; fits && k < entry.operands.size(); ++k)
      key.packed[k] = static_cast<uint8_t>(entry.operands[k]);
    bool checks = false;
    std::vector<Entry> entries;
    for (const auto& [n, a] : entry.nodes) {
      checks |= !nodes_[n].alternatives[a].checks.empty();
      entries.push_back({n, nodes_[n].alternatives[a].commutative});
    }
    if (!checks)
      key.symbol =
          static_cast<uint16_t>(InternSymbol(static_cast<uint16_t>(opcode), std::move(entries)));
  }
}

uint32_t TreeAutomaton::SymbolOf(uint16_t opcode, uint32_t attrs) {
  const uint64_t key = uint64_t{opcode} << 32 | attrs;
  auto [it, is_new] = tables_->symbol_of_attrs.try_emplace(key, 0);
  if (!is_new) return it->second;
  const ir::AttrDict dict = context_->DictFromId(attrs);
  std::vector<Entry> entries;
  for (const auto& [n, a] : opcodes_[opcode].nodes) {
    const Alternative& alternative = nodes_[n].alternatives[a];
    const bool holds =
        std::all_of(alternative.checks.begin(), alternative.checks.end(), [&](const Check& check) {
          return std::find(check.values.begin(), check.values.end(), dict.Get(check.name)) !=
                 check.values.end();
        });
    if (holds) entries.push_back({n, alternative.commutative});
  }
  return it->second = InternSymbol(opcode, std::move(entries));
}

uint32_t TreeAutomaton::InternSymbol(uint16_t opcode, std::vector<Entry> entries) {
  std::vector<uint32_t> key{opcode};
  for (const Entry& e : entries) key.push_back(e.node << 1 | e.commutative);
  auto [it, is_new] = tables_->symbols.try_emplace(key, symbols_.size());
  if (!is_new) return it->second;
  WEFT_CHECK(symbols_.size() < kMaxSymbols, "too many kinds of operations in one set of rules");
  Symbol symbol;
  symbol.opcode = opcode;
  for (const Entry& e : entries) {
    const Need* needed = nullptr;
    for (const Need& need : nodes_[e.node].operands)
      if (!need.anything && !need.optional && !needed) needed = &need;
    if (!needed) {
      symbol.leaves.push_back(e);
    } else {
      for (uint32_t child : needed->nodes) symbol.by_child.emplace_back(child, e);
    }
  }
  std::stable_sort(symbol.by_child.begin(), symbol.by_child.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  symbol.entries = std::move(entries);
  symbols_.push_back(std::move(symbol));
  return it->second;
}

TreeAutomaton::State TreeAutomaton::LabelLong(const ir::GraphView& view, uint32_t op,
                                              const State* states) {
  const uint16_t opcode = view.opcode(op);
  uint32_t symbol = keys_[opcode].symbol;
  if (symbol == kBySymbol) symbol = SymbolOf(opcode, view.attrs(op));
  std::vector<uint32_t> key{symbol};
  std::vector<State> children;
  for (uint32_t i : opcodes_[opcode].operands) {
    children.push_back(Child(view, op, view.record(op), i, states));
    key.push_back(children.back());
  }
  auto it = tables_->long_transitions.find(key);
  if (it == tables_->long_transitions.end())
    it = tables_->long_transitions.emplace(std::move(key), Build(symbol, children)).first;
  return it->second;
}

TreeAutomaton::State TreeAutomaton::Fill(uint64_t key) {
  const auto symbol = static_cast<uint32_t>(key & 0xffff);
  State children[kPacked];
  const size_t count = opcodes_[symbols_[symbol].opcode].operands.size();
  for (size_t i = 0; i < count; ++i) children[i] = static_cast<State>(key >> 16 * (i + 1));
  const State state = Build(symbol, {children, count});
  Insert(key, state);
  return state;
}

void TreeAutomaton::Insert(uint64_t key, State state) {
  if (2 * ++used_ > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    used_ = 1;
    for (const Slot& slot : old)
      if (slot.key) Insert(slot.key, slot.state);
  }
  size_t i = Hash(key) & mask_;
  while (slots_[i].key) i = (i + 1) & mask_;
  slots_[i] = {key, state};
}

bool TreeAutomaton::Satisfies(const Need& need, State child) const {
  if (need.anything || child == kFull) return true;
  if (child == kNotGiven) return need.optional;
  const std::vector<uint32_t>& has = states_[child].nodes;
  return std::any_of(need.nodes.begin(), need.nodes.end(), [&](uint32_t node) {
    return std::binary_search(has.begin(), has.end(), node);
  });
}

bool TreeAutomaton::Satisfies(const Entry& entry, std::span<const State> children,
                              const OpcodeEntry& opcode) const {
  const std::vector<Need>& needs = nodes_[entry.node].operands;
  const auto fits = [&](bool swapped) {
    for (size_t c = 0; c < children.size(); ++c) {
      uint32_t i = opcode.operands[c];
      if (swapped && i < 2) i = 1 - i;
      if (i < needs.size() && !Satisfies(needs[i], children[c])) return false;
    }
    return true;
  };
  return fits(false) || (entry.commutative && needs.size() >= 2 && fits(true));
}

TreeAutomaton::State TreeAutomaton::Build(uint32_t symbol_id, std::span<const State> children) {
  const Symbol& symbol = symbols_[symbol_id];
  const OpcodeEntry& opcode = opcodes_[symbol.opcode];
  std::vector<uint32_t> nodes;
  const auto consider = [&](const Entry& e) {
    if (Satisfies(e, children, opcode)) nodes.push_back(e.node);
  };
  if (std::find(children.begin(), children.end(), kFull) != children.end()) {
    for (const Entry& e : symbol.entries) consider(e);
  } else {
    for (const Entry& e : symbol.leaves) consider(e);
    for (State child : children)
      for (uint32_t below : states_[child].nodes) {
        auto it = std::lower_bound(symbol.by_child.begin(), symbol.by_child.end(), below,
                                   [](const auto& a, uint32_t b) { return a.first < b; });
        for (; it != symbol.by_child.end() && it->first == below; ++it) consider(it->second);
      }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return InternState(std::move(nodes));
}

TreeAutomaton::State TreeAutomaton::InternState(std::vector<uint32_t> nodes) {
  if (nodes.empty()) return kNothing;
  auto [it, is_new] = tables_->states.try_emplace(nodes, kFull);
  if (!is_new || states_.size() >= kMaxStates) return it->second;
  StateEntry state;
  state.accepted = anywhere_;
  state.secondary_root = secondary_anywhere_;
  for (uint32_t n : nodes) {
    const Node& node = nodes_[n];
    state.accepted.insert(state.accepted.end(), node.rules.begin(), node.rules.end());
    state.secondary_root |= node.secondary_root;
    state.max_uses = std::max(state.max_uses, node.max_uses);
    state.max_interior_uses = std::max(state.max_interior_uses, node.max_interior_uses);
  }
  std::sort(state.accepted.begin(), state.accepted.end());
  state.accepted.erase(std::unique(state.accepted.begin(), state.accepted.end()),
                       state.accepted.end());
  std::stable_sort(state.accepted.begin(), state.accepted.end(),
                   [&](uint32_t a, uint32_t b) { return benefits_[a] > benefits_[b]; });
  state.nodes = std::move(nodes);
  it->second = static_cast<State>(states_.size());
  states_.push_back(std::move(state));
  marks_.push_back(MarksOf(states_.back()));
  return it->second;
}

TreeAutomaton::Marks TreeAutomaton::MarksOf(const StateEntry& state) {
  const bool accepts = !state.accepted.empty();
  return {.flags = (accepts ? kAccepts : 0u) | (state.secondary_root ? kSecondaryRoot : 0u) |
                   (state.max_uses > 0 ? kInterior : 0u),
          .first = accepts ? state.accepted[0] : 0};
}

}  // namespace weft::drr

// The rules of a set as one lazy bottom-up tree automaton (Ertl, Casey, Gregg: "Fast and flexible
// instruction selection with on-demand tree-parsing automata", PLDI 2006). The state of an
// operation is the set of sub-patterns it satisfies; it follows from the operation's symbol (opcode
// and the literal attributes that rules ask for) and its operands' states, and is looked up in one
// table that is filled on demand. So the cost per operation hardly depends on the number of rules.
//
// States are a filter that never loses a match (of ops that the context knew when the rules were
// frozen, where a rule names traits only): what they leave open (equal values, attribute
// variables, constraints, external uses, lists, chains, exclusions, what lies in regions) the
// matcher decides.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/graph_view.h"

namespace weft::drr {

class TreeAutomaton {
 public:
  using State = uint16_t;
  static constexpr State kNothing = 0;  // satisfies no sub-pattern
  static constexpr uint32_t kAnyUses = UINT32_MAX;

  explicit TreeAutomaton(const std::vector<std::shared_ptr<const Rule>>& rules);
  ~TreeAutomaton();

  // The state of `op`; states[i] is that of operation number i. An operation not labelled yet
  // counts as kNothing.
  State Label(const ir::GraphView& view, uint32_t op, const State* states) {
    const ir::internal::OpRecord& record = view.record(op);
    if (record.opcode >= keys_.size()) return kNothing;
    const KeyPlan plan = keys_[record.opcode];
    if (plan.num_packed >= kUnknown) [[unlikely]]
      return plan.num_packed == kUnknown ? kNothing : LabelLong(view, op, states);
    uint64_t key = plan.symbol;
    if (key == kBySymbol) key = SymbolOf(record.opcode, record.attrs);
    for (unsigned k = 0; k < plan.num_packed; ++k)
      key |= uint64_t{Child(view, op, record, plan.packed[k], states)} << (16 * (k + 1));
    return Lookup(key);
  }

  // What an operation's state says of it.
  enum Flag : uint32_t {
    kAccepts = 1 << 0,        // some rule may match with its first root here
    kSecondaryRoot = 1 << 1,  // it may be a secondary root of a rule
    kInterior = 1 << 2,  // its results may be intermediate values of a match above: see MaxUses()
  };
  uint32_t Flags(State state) const { return marks_[state].flags; }
  // The first of Accepted(), where kAccepts says that there is one.
  uint32_t FirstAccepted(State state) const { return marks_[state].first; }
  // Numbers of the rules that may match with their first root at an operation in this state: larger
  // benefit first, then in the order of the set.
  std::span<const uint32_t> Accepted(State state) const { return states_[state].accepted; }
  // How many uses a value may have at most and still be an intermediate value of a match: 0 when
  // nothing above it can be in a match, kAnyUses where a rule keeps it for others.
  uint32_t MaxUses(State state) const { return states_[state].max_uses; }
  // Like MaxUses(), but ignoring Keep() patterns: uses above this make a match fail. So a value
  // that has lost a use may be in a new match only if it has no more left than this.
  uint32_t MaxInteriorUses(State state) const { return states_[state].max_interior_uses; }
  // Whether a rule may bind such an operation, other than as its first root, beside some that states do not model
  // (chains, skipped ops, lists, exclusions): then a change of it may concern matches above it, whatever its state.
  bool IsInexact(uint16_t opcode) const {
    return opcode < keys_.size() ? keys_[opcode].inexact : inexact_anywhere_;
  }
  // Whether what lies in the regions of such an operation matters to matches that bind it.
  bool LooksIntoRegionsOf(uint16_t opcode) const {
    return opcode < keys_.size() ? keys_[opcode].looks_into : inexact_anywhere_;
  }
  size_t num_states() const { return states_.size(); }

 private:
  static constexpr State kNotGiven = 1;  // an operand that is not given
  static constexpr State kFull = 2;      // too many states: may satisfy everything
  static constexpr uint16_t kBySymbol = UINT16_MAX;
  static constexpr size_t kPacked = 3;  // operand states in one key
  static constexpr uint8_t kUnknown = UINT8_MAX - 1, kLong = UINT8_MAX;

  struct Need {                   // what an operand must be
    std::vector<uint32_t> nodes;  // one of these
    bool anything = false;
    bool optional = false;
    bool operator==(const Need&) const = default;
  };
  struct Check {  // a literal attribute
    ir::Name name;
    std::vector<ir::Attribute> values;
    bool operator==(const Check&) const = default;
  };
  struct Alternative {
    uint16_t opcode = 0;
    bool commutative = false;
    std::vector<Check> checks;
    bool operator==(const Alternative&) const = default;
  };
  struct Node {  // a sub-pattern; equal ones of all rules are one
    std::vector<Alternative> alternatives;
    std::vector<Need> operands;
    std::vector<uint32_t> rules;  // that start here
    bool secondary_root = false;
    uint32_t max_uses = 0, max_interior_uses = 0;
  };
  struct Entry {
    uint32_t node;
    bool commutative;
    bool operator==(const Entry&) const = default;
  };
  struct Symbol {  // an opcode with a set of literal checks that hold
    uint16_t opcode = 0;
    std::vector<Entry> entries;  // sub-patterns that such an operation may satisfy
    // Those that need nothing below, and the others by a sub-pattern that they need (sorted).
    std::vector<Entry> leaves;
    std::vector<std::pair<uint32_t, Entry>> by_child;
  };
  // How the key of an opcode's operations is made, for most of them, and what is asked all the time.
  struct alignas(8) KeyPlan {
    uint16_t symbol = kBySymbol;            // set where no rule asks for literal attributes
    uint8_t num_packed = kUnknown;          // of operands; kUnknown: no rule has such an operation
    std::array<uint8_t, kPacked> packed{};  // kLong: they do not fit in one key
    bool inexact = false, looks_into = false;
  };
  struct OpcodeEntry {
    std::vector<uint32_t> operands;                    // whose states matter
    std::vector<std::pair<uint32_t, uint32_t>> nodes;  // node, alternative
  };
  struct StateEntry {
    std::vector<uint32_t> nodes;  // sorted
    std::vector<uint32_t> accepted;
    bool secondary_root = false;
    uint32_t max_uses = 0, max_interior_uses = 0;
  };
  struct Marks {  // of a state, what is asked all the time
    uint32_t flags = 0;
    uint32_t first = 0;
  };
  struct Slot {
    uint64_t key = 0;  // 0: empty (symbols start at 1)
    State state = kNothing;
  };
  struct Tables;

  static State Child(const ir::GraphView& view, uint32_t op, const ir::internal::OpRecord& record,
                     uint32_t i, const State* states) {
    if (i >= record.num_operands && i >= view.num_operands(op)) return kNotGiven;
    const uint32_t value = view.used_value(record.operands + i);
    if (!(value & ir::internal::kExtraBit)) return states[value];
    if (value == ir::kNoId) return kNotGiven;
    const uint32_t def = view.DefiningOp(value);
    return def == ir::kNoId ? kNothing : states[def];
  }
  State Lookup(uint64_t key) {
    for (size_t i = Hash(key) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return slots_[i].state;
      if (slots_[i].key == 0) return Fill(key);
    }
  }
  static size_t Hash(uint64_t key) { return (key * 0x9e3779b97f4a7c15u) >> 32; }

  void AddRule(const Rule& rule, uint32_t number);
  KeyPlan& KeyOf(uint16_t opcode);
  // `done`: the nodes of the rule's ops, -1 for any op.
  void NoteInexact(const PatternGraph& graph, const IdVector<SourceOp, int64_t>& done,
                   const IdVector<SourceOp, uint32_t>& uses);
  static bool IsTracked(const SourceOp& op);
  int64_t NodeOf(const PatternGraph& graph, OpId op, IdVector<SourceOp, int64_t>& done);
  Need NeedOf(const PatternGraph& graph, ValueId value, IdVector<SourceOp, int64_t>& done);
  static uint64_t HashOf(const Node& node);
  uint32_t Intern(Node node);
  void IndexOpcodes();
  uint32_t SymbolOf(uint16_t opcode, uint32_t attrs);
  uint32_t InternSymbol(uint16_t opcode, std::vector<Entry> entries);
  State LabelLong(const ir::GraphView& view, uint32_t op, const State* states);
  State Fill(uint64_t key);
  State Build(uint32_t symbol, std::span<const State> children);
  bool Satisfies(const Need& need, State child) const;
  bool Satisfies(const Entry& entry, std::span<const State> children,
                 const OpcodeEntry& opcode) const;
  State InternState(std::vector<uint32_t> nodes);
  static Marks MarksOf(const StateEntry& state);
  void Insert(uint64_t key, State state);

  std::vector<Node> nodes_;
  std::vector<KeyPlan> keys_;  // by opcode, as the next
  std::vector<OpcodeEntry> opcodes_;
  std::vector<Symbol> symbols_;
  std::vector<StateEntry> states_;
  std::vector<Marks> marks_;  // by state
  std::vector<Slot> slots_;
  size_t mask_ = 0, used_ = 0;
  ir::IrContext* context_ = nullptr;
  std::vector<int> benefits_;        // by rule
  std::vector<uint32_t> anywhere_;   // rules that may start at any operation
  bool secondary_anywhere_ = false;  // likewise, secondary roots
  bool inexact_anywhere_ = false;    // some rule binds operations of any name
  std::unique_ptr<Tables> tables_;   // what is needed to build states only
};

}  // namespace weft::drr

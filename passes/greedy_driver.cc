#include "passes/greedy_driver.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "drr/engine/automaton.h"
#include "drr/engine/rule_engine.h"
#include "ir/graph_view.h"
#include "ir/origin/origin.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "passes/id_set.h"
#include "passes/rewrite_log.h"
#include "passes/rewrite_trace.h"
#include "passes/worklist.h"

namespace weft::passes {
namespace {

using drr::TreeAutomaton;
using internal::CheckRewrite;
using internal::CountDecline;
using ir::kNoId;
using ir::Operation;

// Uses followed for rules with chains, skips or regions, which the automaton's states do not model.
constexpr uint32_t kMaxInexactUses = 256;
constexpr uint32_t kManyReaders = 256;
constexpr size_t kManyRules = 64;

// Defined inline below, so that the compiler weighs the bodies as if they stood in the class: the
// inner loop of rewriting.
class Driver : public ir::RewriteListener {
 public:
  Driver(ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
         const GreedyRewriteConfig& config);
  absl::StatusOr<GreedyRewriteResult> Run();
  void OnInserted(Operation op) override;
  void OnModified(Operation op) override { Modified(op.id(), HasManyReaders(newest_)); }
  void OnReleased(ir::Value value) override { Release(value.id()); }
  void OnReplacedInPlace(Operation op, std::span<const uint32_t> erased,
                         std::span<const uint32_t> released) override;
  void OnErased(Operation op) override;

 private:
  // Labels a new op and queues it where it may match.
  void Inserted(Operation op);
  // Queues what may match now that the op is another one: a match above may bind it although no label
  // changes.
  void Revisit(uint32_t op);
  // Relabels and revisits; but where the newest op has very many readers, one by one, revisits only
  // those whose labels change: else a chain that is folded above them would cost its length times their
  // number. The loss: a match that only a guard refused, and that binds the op, is then not tried again.
  void Modified(uint32_t op, bool newest_has_many_readers) {
    const TreeAutomaton::State before = states_[op];
    if (Relabel(op) != before || !newest_has_many_readers) Revisit(op);
  }
  bool HasManyReaders(uint32_t op) const {
    return op != kNoId && view_.use_count(op) > kManyReaders;
  }
  // A new op may take the slot: its entry in the worklist must not be mistaken for this one's.
  void Forget(uint32_t op);
  void Release(uint32_t value) {
    if (const uint32_t def = view_.DefiningOp(value); def != kNoId) released_.push_back(def);
  }

  // --- the worklist ---

  // Labels every operation; queues those that a rule may match at and those without users. Sets the
  // budget.
  void Seed();
  void NoteRegions(uint32_t holder) {
    watches_regions_ |= automaton_.LooksIntoRegionsOf(view_.opcode(holder));
  }
  // With several blocks in a region an op may have been labelled before its operands.
  void LabelAgain();
  uint32_t Pop();
  bool Accepts(uint32_t op) const {
    return automaton_.Flags(states_[op]) & TreeAutomaton::kAccepts;
  }
  // The label that `op` has now; those above follow while they change.
  TreeAutomaton::State Relabel(uint32_t op);
  void RelabelUsers(uint32_t op);
  template <class F>
  void ForEachUser(uint32_t op, uint32_t max_uses, F&& visit);
  template <class F>
  void ForEachUserOf(uint32_t value, uint32_t max_uses, F&& visit);
  // How many uses an intermediate value of a match may have, by its op's state.
  uint32_t MaxUses(uint32_t op) const { return Followed(op, automaton_.MaxUses(states_[op])); }
  uint32_t Followed(uint32_t op, uint32_t max_uses) const {
    return IsInexact(op) ? std::max(max_uses, kMaxInexactUses) : max_uses;
  }
  bool IsInexact(uint32_t op) const {
    return automaton_.IsInexact(view_.opcode(op)) || (watches_regions_ && LiesInRegion(op));
  }
  // Of an operation whose matches look into it, however deep.
  bool LiesInRegion(uint32_t op) const {
    for (Operation holder = view_.OperationAt(op).ParentOp(); holder; holder = holder.ParentOp())
      if (automaton_.LooksIntoRegionsOf(view_.opcode(holder.id()))) return true;
    return false;
  }
  // The operations above whose matches may hold `op` as an intermediate: only through values with
  // few enough uses for that, so that a value with very many costs nothing.
  void EnqueueUsers(uint32_t op, uint32_t max_uses);
  // One level of it; `left` levels are to be walked, this one included.
  void ReachUsers(uint32_t op, uint32_t max_uses, int left);
  // For a secondary root of a rule: its first root uses one of the same values.
  void EnqueuePartners(uint32_t op);
  // After an application: partners of what changed, what nobody came to use, and what lost a use (it
  // may be dead or fit now).
  void Settle();

  // --- rewriting ---

  bool EraseIfDead(uint32_t id);
  void Visit(uint32_t op);
  bool Try(drr::RuleEngine& engine, uint32_t op, RuleStatistics& stats);
  // With what statistics and tests ask for.
  bool TryObserved(drr::RuleEngine& engine, uint32_t op, RuleStatistics& stats);
  bool Apply(drr::RuleEngine& engine, RuleStatistics& stats);
  absl::Status OutOfBudget();

  ir::Program& program_;
  const ir::GraphView view_;
  const drr::FrozenRewritePatternSet& patterns_;
  TreeAutomaton& automaton_;
  drr::RuleEngines& engines_;
  const GreedyRewriteConfig& config_;
  ir::Rewriter rewriter_;
  Worklist worklist_;
  internal::RewriteLog log_;
  const uint64_t max_per_rule_;
  const bool observed_;                       // more is asked for than the result
  const bool has_many_rules_;                 // more than the nearest cache holds
  bool watches_regions_ = false;              // what changes in some concerns who holds them
  std::vector<TreeAutomaton::State> states_;  // by op slot, as all below
  IdSet reached_;                             // what next_level_ holds
  std::vector<uint32_t> inserted_, released_, partners_, stack_, level_, next_level_;
  uint64_t budget_ = 0;
  uint64_t created_ = 0, erased_ = 0;          // operations, by the application under way
  uint32_t newest_ = kNoId;                    // that it made
  std::string reason_;                         // of the last decline
  absl::Status status_;                        // why to stop
  std::optional<ir::OriginRecorder> origins_;  // where the program records them
  GreedyRewriteResult result_;
};

inline Driver::Driver(ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
                      const GreedyRewriteConfig& config)
    : program_(program),
      view_(&program),
      patterns_(patterns),
      automaton_(patterns.automaton()),
      engines_(patterns.engines()),
      config_(config),
      rewriter_(&program, this),
      worklist_(view_, config.seed),
      log_(program.num_operations()),
      max_per_rule_(config.max_rewrites_per_rule ? config.max_rewrites_per_rule : UINT64_MAX),
      observed_(config.collect_statistics || config.paranoid || config.verify_after_rewrite ||
                config.trace),
      has_many_rules_(patterns.rules().size() > kManyRules) {
  for (const auto& rule : patterns.rules())
    result_.rules.push_back({.rule = rule->name, .last_decline = {}, .declines = {}});
  if (config.record_rules) ir::RecordOrigins(program);
  ir::RewriteListener* listener = this;
  if (ir::RecordsOrigins(program)) listener = &origins_.emplace(program, this);
  if (config.trace) listener = config.trace->Listener(listener);
  rewriter_.set_listener(listener);
  // What is replaced in place is announced when it is gone.
  engines_.Use(listener == this ? config.fast_path : drr::FastPath::kMatcher);
}

inline absl::StatusOr<GreedyRewriteResult> Driver::Run() {
  if (config_.trace && config_.trace->AtLimit()) return std::move(result_);
  Seed();
  while (!worklist_.empty()) {
    const uint32_t op = Pop();
    if (op == kNoId || EraseIfDead(op)) continue;
    Visit(op);
    if (!status_.ok()) return status_;
  }
  return std::move(result_);
}

inline void Driver::OnInserted(Operation op) {
  if (op.id() >= states_.size()) {
    states_.resize(op.id() + 1 + op.id() / 4);
    worklist_.Resize(states_.size());
    reached_.Resize(states_.size());
  }
  Inserted(op);
  inserted_.push_back(op.id());
  if (view_.HasRegions(op.id())) NoteRegions(op.id());
}

// The worklist gets what inserting the new operation, replacing the old one and erasing would make
// of it, in that order, so that results do not depend on which way a rule is applied.

inline void Driver::OnReplacedInPlace(Operation op, std::span<const uint32_t> erased,
                                      std::span<const uint32_t> released) {
  const TreeAutomaton::State before = states_[op.id()];
  for (const uint32_t gone : erased) Forget(gone);
  Forget(op.id());
  Inserted(op);
  if (view_.first_use(op.id()) == kNoId) inserted_.push_back(op.id());
  const bool has_many = HasManyReaders(newest_);
  if (states_[op.id()] != before)
    ForEachUserOf(op.id(), kNoId, [&](uint32_t user) { Modified(user, has_many); });
  else if (!has_many)  // labels of users stay, too
    ForEachUserOf(op.id(), kNoId, [&](uint32_t user) { Revisit(user); });
  for (const uint32_t value : released) Release(value);
}

inline void Driver::OnErased(Operation op) {
  const uint32_t id = op.id();
  for (uint32_t i = 0, n = view_.num_operands(id); i < n; ++i)
    if (const uint32_t value = view_.operand(id, i); value != kNoId) Release(value);
  Forget(id);
}

inline void Driver::Inserted(Operation op) {
  ++created_;
  const uint32_t id = newest_ = op.id();
  states_[id] = automaton_.Label(view_, id, states_.data());
  const uint32_t flags = automaton_.Flags(states_[id]);
  if (flags & TreeAutomaton::kAccepts) worklist_.Add(id);
  if (flags & TreeAutomaton::kSecondaryRoot) partners_.push_back(id);
}

inline void Driver::Revisit(uint32_t op) {
  const uint32_t flags = automaton_.Flags(states_[op]);
  if (flags & TreeAutomaton::kAccepts) worklist_.Add(op);
  if ((flags & TreeAutomaton::kInterior) || IsInexact(op)) EnqueueUsers(op, MaxUses(op));
  if (flags & TreeAutomaton::kSecondaryRoot) partners_.push_back(op);
}

inline void Driver::Forget(uint32_t op) {
  ++erased_;
  worklist_.Remove(op);
  states_[op] = TreeAutomaton::kNothing;
}

// --- the worklist ---

inline void Driver::Seed() {
  states_.resize(program_.op_slots());
  worklist_.Resize(states_.size());
  reached_.Resize(states_.size());
  std::vector<uint32_t> resume;  // where to go on after the regions of an operation
  bool several_blocks = false;
  const auto push_regions = [&](uint32_t op) {
    const Operation holder = view_.OperationAt(op);
    if (holder.HasTrait(ir::kBodyInRegion)) return;  // it may not hold what a rule makes
    NoteRegions(op);
    for (uint32_t r = holder.num_regions(); r-- > 0;) {
      const std::vector<ir::Block> blocks = holder.region(r).blocks();
      for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
        if (const Operation first = block->front()) resume.push_back(first.id());
      several_blocks |= blocks.size() > 1;
    }
  };
  push_regions(program_.module().id());
  uint64_t num_operands = 0;
  while (!resume.empty()) {
    uint32_t op = resume.back();
    resume.pop_back();
    for (; op != kNoId; op = view_.next(op)) {
      states_[op] = automaton_.Label(view_, op, states_.data());
      num_operands += view_.num_operands(op);
      const bool unread = view_.HasResult(op) && view_.first_use(op) == kNoId;
      if (unread || Accepts(op)) worklist_.Add(op);
      if (!view_.HasRegions(op)) continue;
      if (view_.next(op) != kNoId) resume.push_back(view_.next(op));
      push_regions(op);
      break;
    }
  }
  // Each operand of a Concat may be dropped or written out by a rewrite of its own.
  budget_ = config_.max_rewrites ? config_.max_rewrites
                                 : 100 + 20 * program_.num_operations() + num_operands;
  if (several_blocks) LabelAgain();
  if (config_.use_top_down_traversal) worklist_.Reverse();
}

inline void Driver::LabelAgain() {
  for (uint32_t op = 0; op < states_.size(); ++op)
    if (!view_.IsErased(op)) Relabel(op);
}

inline uint32_t Driver::Pop() {
  const uint32_t op = worklist_.Pop(), next = worklist_.Next();
  // While this one is looked at, what the next one needs is fetched.
  if (has_many_rules_ && next != kNoId && Accepts(next))
    engines_.Prefetch(automaton_.FirstAccepted(states_[next]));
  return op;
}

[[gnu::always_inline]] inline TreeAutomaton::State Driver::Relabel(uint32_t op) {
  const TreeAutomaton::State state = automaton_.Label(view_, op, states_.data());
  if (state != states_[op]) {
    states_[op] = state;
    RelabelUsers(op);
  }
  return state;
}

inline void Driver::RelabelUsers(uint32_t op) {
  for (stack_.clear();;) {
    ForEachUser(op, kNoId, [&](uint32_t user) {
      const TreeAutomaton::State next = automaton_.Label(view_, user, states_.data());
      if (next == states_[user]) return;
      states_[user] = next;
      if (Accepts(user)) worklist_.Add(user);
      stack_.push_back(user);
    });
    if (stack_.empty()) return;
    op = stack_.back();
    stack_.pop_back();
  }
}

template <class F>
inline void Driver::ForEachUser(uint32_t op, uint32_t max_uses, F&& visit) {
  ForEachUserOf(op, max_uses, visit);
  if (!view_.HasExtraResults(op)) return;
  for (uint32_t r = 1, n = view_.OperationAt(op).num_results(); r < n; ++r)
    ForEachUserOf(view_.result(op, r), max_uses, visit);
}

template <class F>
inline void Driver::ForEachUserOf(uint32_t value, uint32_t max_uses, F&& visit) {
  uint32_t use = view_.first_use(value);
  if (use == kNoId || view_.use_count(value) > max_uses) return;
  for (; use != kNoId; use = view_.next_use(use)) visit(view_.owner(use));
}

inline void Driver::EnqueueUsers(uint32_t op, uint32_t max_uses) {
  if (max_uses == 0) return;
  next_level_.clear();
  ReachUsers(op, max_uses, patterns_.max_depth() - 1);
  for (int left = patterns_.max_depth() - 2; left > 0 && !next_level_.empty(); --left) {
    level_.swap(next_level_);
    next_level_.clear();
    for (uint32_t below : level_) reached_.Remove(below);
    for (uint32_t below : level_) ReachUsers(below, MaxUses(below), left);
  }
}

inline void Driver::ReachUsers(uint32_t op, uint32_t max_uses, int left) {
  const auto reach = [&](uint32_t user) {
    const uint32_t flags = automaton_.Flags(states_[user]);
    if (flags & TreeAutomaton::kAccepts) worklist_.Add(user);
    if (left > 1 && ((flags & TreeAutomaton::kInterior) || IsInexact(user)) && reached_.Add(user))
      next_level_.push_back(user);
  };
  ForEachUser(op, max_uses, reach);
  if (!watches_regions_) return;
  if (const Operation holder = view_.OperationAt(op).ParentOp(); holder.block()) reach(holder.id());
}

inline void Driver::EnqueuePartners(uint32_t op) {
  if (view_.IsErased(op)) return;
  for (uint32_t i = 0, n = view_.num_operands(op); i < n; ++i) {
    const uint32_t value = view_.operand(op, i);
    if (value == kNoId) continue;
    uint32_t left = drr::Matcher::kMaxJoinCandidates;
    for (uint32_t use = view_.first_use(value); use != kNoId && left > 0;
         use = view_.next_use(use), --left)
      if (Accepts(view_.owner(use))) worklist_.Add(view_.owner(use));
  }
}

inline void Driver::Settle() {
  for (const uint32_t op : partners_) EnqueuePartners(op);
  partners_.clear();
  for (const uint32_t op : inserted_)
    if (!view_.IsErased(op) && view_.first_use(op) == kNoId) worklist_.Add(op);
  inserted_.clear();
  for (uint32_t op : released_) {
    const ir::internal::OpRecord& record = view_.record(op);
    if (record.flags & ir::internal::kOpErased) continue;
    if (record.first_use == kNoId || Accepts(op)) worklist_.Add(op);
    EnqueueUsers(op, Followed(op, automaton_.MaxInteriorUses(states_[op])));
  }
  released_.clear();
}

// --- rewriting ---

inline bool Driver::EraseIfDead(uint32_t id) {
  if (!view_.HasResult(id) || view_.first_use(id) != kNoId) return false;
  const Operation op = view_.OperationAt(id);
  if (!op.HasTrait(ir::kPure) || !op.IsUnused()) return false;
  if (op.num_regions() > 0) return false;  // what is inside may matter
  rewriter_.Erase(op);
  Settle();
  result_.changed = true;
  return true;
}

inline void Driver::Visit(uint32_t op) {
  for (const uint32_t r : automaton_.Accepted(states_[op])) {
    RuleStatistics& stats = result_.rules[r];
    if (stats.applied >= max_per_rule_) continue;
    ++stats.tried;
    drr::RuleEngine& engine = engines_[r];
    if (!(observed_ ? TryObserved(engine, op, stats) : Try(engine, op, stats))) {
      if (status_.ok()) continue;
      return;
    }
    log_.RecordRewrite(r);
    result_.changed = true;
    if (--budget_ == 0) status_ = OutOfBudget();
    return;
  }
}

inline bool Driver::Try(drr::RuleEngine& engine, uint32_t op, RuleStatistics& stats) {
  if (!engine.Match(view_, op)) return false;
  ++stats.matched;
  if (budget_ == 1) log_.RecordSite(view_.OperationAt(op));
  return Apply(engine, stats);
}

inline bool Driver::TryObserved(drr::RuleEngine& engine, uint32_t op, RuleStatistics& stats) {
  const auto start = std::chrono::steady_clock::now();
  drr::MatchFailure failure;
  bool applied = false;
  if (engine.Match(view_, op, config_.collect_statistics ? &failure : nullptr)) {
    ++stats.matched;
    if (budget_ == 1) log_.RecordSite(view_.OperationAt(op));
    std::optional<std::string> before;
    if (config_.paranoid) before = ir::PrintProgram(program_);
    if (config_.trace) config_.trace->Begin(stats.rule, view_.OperationAt(op));
    applied = Apply(engine, stats);
    if (applied && config_.trace && config_.trace->Commit()) worklist_.Clear();
    if (config_.paranoid || config_.verify_after_rewrite)
      status_ = CheckRewrite(program_, stats.rule, applied, before);
  } else if (config_.collect_statistics) {
    CountDecline(stats, failure.reason);
  }
  if (config_.collect_statistics)
    stats.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return applied;
}

inline bool Driver::Apply(drr::RuleEngine& engine, RuleStatistics& stats) {
  created_ = erased_ = 0;
  newest_ = kNoId;
  const Worklist::Mark queued = worklist_.Now();
  if (origins_) origins_->Begin();
  if (!engine.Apply(view_, rewriter_, &reason_)) {
    if (origins_) origins_->Abandon();
    // What was made and taken back changed nothing.
    worklist_.DropSince(queued);
    released_.clear();
    partners_.clear();
    inserted_.clear();
    ++stats.declined;
    if (config_.collect_statistics) CountDecline(stats, reason_);
    stats.last_decline = std::move(reason_);
    return false;
  }
  ++stats.applied;
  stats.ops_created += created_;
  stats.ops_erased += erased_;
  if (!released_.empty() || !partners_.empty() || !inserted_.empty()) Settle();
  if (origins_) origins_->Commit(stats.rule);
  return true;
}

inline absl::Status Driver::OutOfBudget() {
  return absl::ResourceExhaustedError("rewriting does not end: the budget is used up by " +
                                      log_.Explain(result_.rules, program_.num_operations()));
}

}  // namespace

absl::StatusOr<GreedyRewriteResult> ApplyPatternsGreedily(
    ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
    const GreedyRewriteConfig& config) {
  WEFT_RETURN_IF_ERROR(patterns.status());
  return Driver(program, patterns, config).Run();
}

}  // namespace weft::passes

#include "passes/greedy_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "drr/apply.h"
#include "drr/matcher.h"
#include "ir/rewriter.h"
#include "ir/verifier.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;

class Driver : public ir::RewriteListener {
 public:
  Driver(ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
         const GreedyRewriteConfig& config)
      : program_(program), patterns_(patterns), config_(config), rewriter_(&program, this) {
    for (const auto& rule : patterns.rules()) {
      matchers_.emplace_back(*rule);
      matches_.emplace_back(rule.get());
      result_.rules.push_back({.rule = rule->name, .last_decline = {}});
    }
    budget_ = config.max_rewrites ? config.max_rewrites : 100 + 20 * program.num_operations();
  }

  absl::StatusOr<GreedyRewriteResult> Run() {
    Seed();
    while (!worklist_.empty()) {
      const Operation op = worklist_.back();
      worklist_.pop_back();
      if (!op.IsAlive()) continue;
      queued_[op.id()] = false;
      if (EraseIfDead(op)) continue;
      WEFT_RETURN_IF_ERROR(Visit(op));
    }
    return std::move(result_);
  }

  // What can make a rule fit that did not: a new or changed op below its root (so the readers are
  // looked at, as many levels up as the deepest rule has), a sibling of another root, or a use that
  // went away.
  void OnInserted(Operation op) override {
    ++created_;
    if (config_.record_rules) made_.push_back(op);
    EnqueueWithReaders(op);
  }
  void OnModified(Operation op) override { EnqueueWithReaders(op); }
  void OnErased(Operation op) override {
    ++erased_;
    for (Value v : op.operands()) {
      if (!v) continue;
      const Operation def = v.DefiningOp();
      if (!def) continue;
      if (def.HasTrait(ir::kConstantLike)) {
        Enqueue(def);  // perhaps dead now; its readers do not care who else reads it
      } else {
        EnqueueWithReaders(def);
      }
    }
    // A new op may take the slot: its entry in the worklist must not be mistaken for this one's.
    if (op.id() < queued_.size()) queued_[op.id()] = false;
  }

 private:
  void Seed() {
    std::vector<Operation> ops;
    ir::Walk(program_, [&](Operation op) { ops.push_back(op); });
    if (config_.use_top_down_traversal) std::reverse(ops.begin(), ops.end());  // a stack
    for (Operation op : ops) Enqueue(op);
  }

  void Enqueue(Operation op) {
    if (queued_.size() <= op.id()) queued_.resize(op.id() + 1 + op.id() / 2);
    if (queued_[op.id()]) return;
    queued_[op.id()] = true;
    worklist_.push_back(op);
  }

  void EnqueueWithReaders(Operation op) {
    std::vector<Operation> level{op}, next;
    Enqueue(op);
    for (int depth = 1; depth < patterns_.max_depth() && !level.empty(); ++depth) {
      next.clear();
      for (Operation o : level)
        for (Value v : o.results())
          for (ir::OpOperand use = v.first_use(); use; use = use.next_use()) {
            const Operation reader = use.owner();
            if (!next.empty() && next.back() == reader) continue;
            Enqueue(reader);
            next.push_back(reader);
          }
      level.swap(next);
    }
    if (!patterns_.has_joins()) return;
    for (Value v : op.operands()) {
      if (!v) continue;
      for (ir::OpOperand use = v.first_use(); use; use = use.next_use()) Enqueue(use.owner());
    }
  }

  bool EraseIfDead(Operation op) {
    if (!op.HasTrait(ir::kPure) || op.num_results() == 0 || !op.IsUnused()) return false;
    if (op.num_regions() > 0) return false;  // what is inside may matter
    rewriter_.Erase(op);
    result_.changed = true;
    return true;
  }

  absl::Status Visit(Operation op) {
    for (uint32_t r : patterns_.StartingAt(op.opcode())) {
      RuleStatistics& stats = result_.rules[r];
      const auto start = std::chrono::steady_clock::now();
      ++stats.tried;
      const bool applied = TryRule(r, op, stats);
      stats.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!applied) continue;
      ++stats.applied;
      result_.changed = true;
      if (config_.verify_after_rewrite)
        if (absl::Status s = ir::Verify(program_); !s.ok())
          return ir::Internal(
              fmt::format("rule {} broke the program: {}", stats.rule, ir::Message(s)));
      if (--budget_ == 0) return OutOfBudget();
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  bool TryRule(uint32_t r, Operation op, RuleStatistics& stats) {
    if (config_.max_rewrites_per_rule && stats.applied >= config_.max_rewrites_per_rule)
      return false;
    drr::MatchContext& match = matches_[r];
    match = drr::MatchContext(patterns_.rules()[r].get());
    if (!matchers_[r].Match(op, &match)) return false;
    ++stats.matched;
    const uint64_t created = created_, erased = erased_;
    made_.clear();
    std::string reason;
    if (!drr::Apply(match, rewriter_, &reason)) {
      ++stats.declined;
      stats.last_decline = std::move(reason);
      return false;
    }
    stats.ops_created += created_ - created;
    stats.ops_erased += erased_ - erased;
    RecordRule(stats.rule);
    return true;
  }

  // Locations stay short where one rule fires again and again on what it made.
  void RecordRule(const std::string& rule) {
    constexpr size_t kLongest = 300;
    const std::string mark = " <- " + rule;
    for (const Operation op : made_) {
      if (!op.IsAlive()) continue;
      const std::string location(op.location().str());
      if (location.size() > kLongest || location.ends_with(mark)) continue;
      program_.SetLocation(op, ir::Name(location + mark));
    }
  }

  absl::Status OutOfBudget() {
    std::vector<const RuleStatistics*> busiest;
    for (const RuleStatistics& s : result_.rules)
      if (s.applied) busiest.push_back(&s);
    std::stable_sort(busiest.begin(), busiest.end(),
                     [](auto* a, auto* b) { return a->applied > b->applied; });
    std::string names;
    for (size_t i = 0; i < busiest.size() && i < 3; ++i)
      names += fmt::format("{}{} ({} times)", i ? ", " : "", busiest[i]->rule, busiest[i]->applied);
    return absl::ResourceExhaustedError(
        fmt::format("rewriting does not end: the budget is used up by {}", names));
  }

  ir::Program& program_;
  const drr::FrozenRewritePatternSet& patterns_;
  const GreedyRewriteConfig& config_;
  ir::Rewriter rewriter_;
  std::vector<drr::Matcher> matchers_;
  std::vector<drr::MatchContext> matches_;
  std::vector<Operation> worklist_;
  std::vector<bool> queued_;  // by op slot
  uint64_t budget_ = 0;
  uint64_t created_ = 0, erased_ = 0;  // operations, in this run
  std::vector<Operation> made_;        // by the application under way, when rules are recorded
  GreedyRewriteResult result_;
};

}  // namespace

absl::StatusOr<GreedyRewriteResult> ApplyPatternsGreedily(
    ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
    const GreedyRewriteConfig& config) {
  return Driver(program, patterns, config).Run();
}

}  // namespace weft::passes

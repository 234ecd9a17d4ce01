// What one rule needs at run time: its matchers, the match under way, and the applier, with their
// buffers. Made once per rule of a frozen set and used again and again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drr/engine/applier.h"
#include "drr/engine/erase_order.h"
#include "drr/engine/fast_applier.h"
#include "drr/engine/fast_matcher.h"
#include "drr/engine/matcher.h"
#include "drr/engine/rule_set.h"

namespace weft::drr {

class RuleEngine {
 public:
  RuleEngine(const Rule& rule, PlainMatch* shared, FastPath fast_path = FastPath::kAll)
      : general_(std::make_unique<General>(rule)) {
    if (fast_path == FastPath::kNone || !PlainMatcher::Supports(rule)) return;
    plain_matcher_.emplace(rule, shared);
    if (fast_path == FastPath::kAll && PlainApplier::Supports(rule))
      plain_applier_.emplace(rule, *plain_matcher_, shared);
  }

  // True when the rule matches with its first root at `op`. `failure` (may be null) receives the
  // reason otherwise, which takes a slower way.
  bool Match(const ir::GraphView& view, uint32_t op, MatchFailure* failure = nullptr) {
    if (!plain_matcher_) return MatchSlowly(view, op, failure);
    if (plain_matcher_->Match(view, op, &general_->match)) return true;
    if (failure) MatchSlowly(view, op, failure);
    return false;
  }
  // Applies the match that was found: false when the rule declines, and *reason (may be null) says
  // why. Nothing may have changed in between.
  bool Apply(const ir::GraphView& view, ir::Rewriter& rewriter, std::string* reason) {
    if (plain_applier_) return plain_applier_->Apply(view, &general_->match, rewriter, reason);
    if (plain_matcher_) plain_matcher_->Fill(&general_->match);
    if (general_->erase_order.empty())
      general_->erase_order = EraseOrder(general_->match.rule().graph);
    return drr::Apply(general_->match, general_->erase_order, rewriter, reason);
  }

 private:
  struct General {  // for what the plain ones do not support, and for reasons
    explicit General(const Rule& rule) : match(&rule) {}
    MatchContext match;
    std::optional<Matcher> matcher;  // made when it is first needed
    std::vector<OpId> erase_order;   // made by the first application; a pattern has an op
  };

  bool MatchSlowly(const ir::GraphView& view, uint32_t op, MatchFailure* failure) {
    if (!general_->matcher) general_->matcher.emplace(general_->match.rule());
    general_->match.Reset();
    return general_->matcher->Match(view.OperationAt(op), &general_->match, failure);
  }

  std::unique_ptr<General> general_;
  std::optional<PlainMatcher> plain_matcher_;
  std::optional<PlainApplier> plain_applier_;
};

// The engines of a set's rules, made when they are first asked for. They lie side by side and hold
// what most rules need within themselves, so that the next one can be fetched ahead: with a thousand
// rules most of them are not in the cache.
class RuleEngines {
 public:
  explicit RuleEngines(const std::vector<std::shared_ptr<const Rule>>& rules)
      : engines_(rules.size()) {
    for (const auto& rule : rules) rules_.push_back(rule.get());
  }

  RuleEngine& operator[](uint32_t rule) {
    std::optional<RuleEngine>& engine = engines_[rule];
    if (!engine) [[unlikely]]
      engine.emplace(*rules_[rule], &match_, fast_path_);
    return *engine;
  }
  // No match may be under way.
  void Use(FastPath fast_path) {
    if (std::exchange(fast_path_, fast_path) == fast_path) return;
    for (std::optional<RuleEngine>& engine : engines_) engine.reset();
  }
  void Prefetch(uint32_t rule) const {
    const char* const engine = reinterpret_cast<const char*>(&engines_[rule]);
    for (size_t i = 0; i < sizeof(engines_[0]); i += kCacheLine) __builtin_prefetch(engine + i);
  }

 private:
  static constexpr size_t kCacheLine = 64;
  std::vector<const Rule*> rules_;
  PlainMatch match_;
  FastPath fast_path_ = FastPath::kAll;
  std::vector<std::optional<RuleEngine>> engines_;  // never resized: engines refer to themselves
};

}  // namespace weft::drr

#include "passes/verify/near_misses.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "drr/engine/matcher.h"
#include "ir/base/thread_time.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/verify/apply_once.h"
#include "passes/verify/assignment.h"
#include "passes/verify/mutation/mistakes.h"
#include "passes/verify/program_variants.h"

namespace weft::passes {
namespace {

using drr::AttrPattern;
using drr::PatternGraph;
using drr::Rule;
using ir::Operation;
using ir::Program;

// The pattern of a rule alone: any attributes, no constraints, and ops that are alike for those it
// names; and how much of the rule does not hold where that matches.
class RelaxedRule {
 public:
  explicit RelaxedRule(const Rule& rule) : rule_(rule), relaxed_(rule) {
    relaxed_.graph.constraints.clear();
    std::set<size_t> bound;  // a variable stays where it is bound first
    for (const drr::OpId id : rule_.graph.ops.ids()) {
      if (rule_.graph.ops[id].alternatives.empty()) continue;
      const std::vector<AttrPattern> attrs = rule_.graph.ops[id].alternatives[0].attrs;
      for (const AttrPattern& pattern : attrs)
        if (pattern.kind == AttrPattern::kIsOneOf ||
            (pattern.kind == AttrPattern::kBind && !bound.insert(pattern.variable.index()).second))
          Relax(id, pattern.name);
    }
    for (const auto& [id, name] : relaxed_attrs_) {
      Rule& with = with_attr_.emplace_back(relaxed_);
      for (size_t i = 0; i < rule_.graph.ops[id].alternatives.size(); ++i)
        for (size_t k = 0; k < rule_.graph.ops[id].alternatives[i].attrs.size(); ++k)
          if (const AttrPattern& old = rule_.graph.ops[id].alternatives[i].attrs[k];
              old.name == name)
            with.graph.ops[id].alternatives[i].attrs[k] = old;
    }
    if (!HasNativeConstraint()) AddOtherOps();
  }

  bool Match(Operation site, drr::MatchContext* match) const {
    return drr::Matcher(relaxed_).Match(site, match);
  }
  const Rule& rule() const { return relaxed_; }

  // Numbers of what does not hold, in order.
  std::vector<size_t> Broken(Operation site, const drr::MatchContext& match) const {
    std::vector<size_t> broken;
    size_t number = 0;
    for (const drr::OpId id : rule_.graph.ops.ids()) {
      const auto& fit = rule_.graph.ops[id].alternatives;
      const Operation op = match.op(id);
      if (op && !fit.empty() &&
          std::none_of(fit.begin(), fit.end(), [&](const auto& a) { return a.def == op.def(); }))
        broken.push_back(number);
      ++number;
    }
    for (const Rule& with : with_attr_) {
      drr::MatchContext there(&with);
      if (broken.empty() && !drr::Matcher(with).Match(site, &there)) broken.push_back(number);
      ++number;
    }
    for (const drr::Constraint& constraint : rule_.graph.constraints) {
      // Native code may rely on what stands before it.
      const bool is_native = constraint.formula.name.empty();
      if (!constraint.profitable && ((is_native && !broken.empty()) || !constraint.holds(match)))
        broken.push_back(number);
      ++number;
    }
    return broken;
  }

 private:
  void Relax(drr::OpId id, ir::Name name) {
    relaxed_attrs_.emplace_back(id, name);
    for (drr::Alternative& alternative : relaxed_.graph.ops[id].alternatives)
      for (AttrPattern& attr : alternative.attrs)
        if (attr.name == name) attr.kind = AttrPattern::kAny;
  }
  bool HasNativeConstraint() const {
    const auto& all = rule_.graph.constraints;
    return rule_.graph.num_lets > 0 || std::any_of(all.begin(), all.end(), [](const auto& c) {
             return c.formula.name.empty();
           });
  }
  void AddOtherOps() {
    for (const drr::OpId id : rule_.graph.ops.ids())
      for (const drr::Alternative& alternative : rule_.graph.ops[id].alternatives)
        for (const ir::OpDef* other : OtherOps(*rule_.graph.context(), *alternative.def))
          relaxed_.graph.ops[id].alternatives.push_back({other, {}});
  }

  const Rule& rule_;
  Rule relaxed_;
  std::vector<std::pair<drr::OpId, ir::Name>> relaxed_attrs_;
  std::vector<Rule> with_attr_;  // relaxed but for one of those
};

class Breeding {
 public:
  Breeding(const Rule& rule, std::span<const Rule* const> mutants, const NearMissOptions& options)
      : rule_(WithoutGain(rule)),
        relaxed_(rule_),
        options_(options),
        draw_(rule_.graph, options.seed) {
    for (const Rule* mutant : mutants) mutants_.push_back({.rule = WithoutGain(*mutant)});
  }

  std::vector<std::vector<std::string>> Run(std::vector<std::unique_ptr<Program>> from) {
    const double start = ir::ThreadSeconds();
    last_found_ = start;
    for (auto& program : from) {
      // Those of open sizes come as variants, with numbers for them.
      for (int i = 0; i < kVariantsOfGiven; ++i)
        if (auto variant = VariantOf(*program, draw_)) Consider(std::move(variant));
      Consider(std::move(program));
    }
    while (!cells_.empty() && !IsDone() && ir::ThreadSeconds() < start + options_.seconds &&
           ir::ThreadSeconds() < last_found_ + options_.patience) {
      Cell& parent = PickCell();
      ++parent.visits;
      auto child = VariantOf(*draw_.OneOf(parent.programs), draw_);
      if (child != nullptr && draw_.OneIn(3)) child = VariantOf(*child, draw_);
      if (child != nullptr) Consider(std::move(child));
    }
    std::vector<std::vector<std::string>> found;
    for (Wanted& mutant : mutants_) {
      found.push_back(std::move(mutant.found));
      found.back().insert(found.back().end(), mutant.refused.begin(), mutant.refused.end());
    }
    return found;
  }

 private:
  static constexpr int kVariantsOfGiven = 10;
  static constexpr size_t kOfACell = 4;
  static constexpr size_t kMostBroken = 3;  // of programs that are varied again
  static constexpr size_t kNear = 2;        // of those that mutants are tried on
  static constexpr int kMostTries = 200;    // of one mutant, at what the rule matches
  static constexpr size_t kMostElements = 4000;

  struct Wanted {
    Rule rule;
    std::vector<std::string> found{}, refused{};
    int tries = 0;
  };
  struct Cell {
    std::vector<std::unique_ptr<Program>> programs;
    size_t visits = 0, seen = 0;
  };

  static Rule WithoutGain(Rule rule) {
    std::erase_if(rule.graph.constraints, [](const auto& c) { return c.profitable; });
    return rule;
  }

  void Consider(std::unique_ptr<Program> program) {
    size_t elements = 0;
    for (const ir::Value input : program->body().arguments()) {
      if (!input.type().IsStatic()) return;
      elements += static_cast<size_t>(input.type().NumElements());
    }
    if (elements > kMostElements) return;
    std::string text = ir::PrintProgram(*program, {.full_weights = true});
    if (!texts_.insert(std::hash<std::string>()(text)).second) return;
    std::vector<Operation> ops;
    ir::Walk(*program, [&](Operation op) { ops.push_back(op); });
    for (const Operation op : ops) {
      drr::MatchContext match(&relaxed_.rule());
      if (!relaxed_.Match(op, &match)) continue;
      const std::vector<size_t> broken = relaxed_.Broken(op, match);
      if (broken.size() <= kNear) Offer(*program, op, text, broken.empty());
      if (broken.size() > kMostBroken) return;
      Cell& cell = cells_[broken];
      if (cell.seen++ == 0) by_size_[broken.size()].push_back(&cell);
      if (cell.programs.size() < kOfACell) {
        cell.programs.push_back(std::move(program));
      } else if (draw_.Below(cell.seen) < kOfACell) {
        cell.programs[draw_.Below(kOfACell)] = std::move(program);
      }
      return;
    }
  }

  // `holds`: all of the rule.
  void Offer(Program& program, Operation site, const std::string& text, bool holds) {
    for (Wanted& mutant : mutants_) {
      if (mutant.found.size() >= options_.wanted || (holds && mutant.tries >= kMostTries)) continue;
      drr::MatchContext match(&mutant.rule);
      if (!drr::Matcher(mutant.rule).Match(site, &match)) continue;
      mutant.tries += holds;
      if (const auto after = ApplyOnce(mutant.rule, program, site, nullptr)) {
        // Where it says more of the numbers, all programs tell.
        if (mutant.rule.numerics == rule_.numerics && MakesTheSame(rule_, program, site, *after))
          continue;
        mutant.found.push_back(text);
        last_found_ = ir::ThreadSeconds();
      } else if (mutant.refused.size() < options_.refused && !IsRefusedToo(program, site)) {
        mutant.refused.push_back(text);
        last_found_ = ir::ThreadSeconds();
      }
    }
  }
  bool IsRefusedToo(Program& program, Operation site) const {
    drr::MatchContext match(&rule_);
    return drr::Matcher(rule_).Match(site, &match) &&
           ApplyOnce(rule_, program, site, nullptr) == nullptr;
  }

  bool IsDone() const {
    return std::all_of(mutants_.begin(), mutants_.end(), [&](const Wanted& mutant) {
      return mutant.found.size() >= options_.wanted;
    });
  }

  // Most often one of which nothing or one thing is broken; of few such that which was varied least.
  Cell& PickCell() {
    constexpr size_t kBroken[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 3};
    constexpr int kChoices = 4;
    std::vector<Cell*>* alike = &by_size_[draw_.OneOf(kBroken)];
    while (alike->empty()) alike = &by_size_[draw_.Below(by_size_.size())];
    Cell* best = nullptr;
    for (int i = 0; i < kChoices; ++i) {
      Cell* cell = draw_.OneOf(*alike);
      if (best == nullptr || cell->visits < best->visits) best = cell;
    }
    return *best;
  }

  const Rule rule_;
  const RelaxedRule relaxed_;
  const NearMissOptions& options_;
  Draw draw_;
  std::vector<Wanted> mutants_;
  std::map<std::vector<size_t>, Cell> cells_;  // by what is broken
  std::array<std::vector<Cell*>, kMostBroken + 1> by_size_;
  std::set<size_t> texts_;  // digests
  double last_found_ = 0;
};

}  // namespace

std::vector<std::vector<std::string>> NearMisses(const Rule& rule,
                                                 std::span<const Rule* const> mutants,
                                                 std::vector<std::unique_ptr<Program>> from,
                                                 const NearMissOptions& options) {
  return Breeding(rule, mutants, options).Run(std::move(from));
}

}  // namespace weft::passes

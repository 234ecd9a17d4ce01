#include "passes/verify/near_misses.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/base/thread_time.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/verify/apply_once.h"
#include "passes/verify/assignment.h"
#include "passes/verify/difference.h"
#include "passes/verify/input_sizes.h"
#include "passes/verify/program_variants.h"
#include "passes/verify/search/relaxed_rule.h"
#include "passes/verify/test_inputs.h"

namespace weft::passes {
namespace {

using drr::Rule;
using ir::Operation;
using ir::Program;

class Breeding {
 public:
  Breeding(const Rule& rule, std::span<const Rule* const> mutants, const NearMissOptions& options)
      : rule_(WithoutGain(rule)),
        relaxed_(rule_),
        options_(options),
        draw_(rule_.graph, options.seed),
        alone_(relaxed_.size()) {
    for (const Rule* mutant : mutants) mutants_.push_back({.rule = WithoutGain(*mutant)});
  }

  std::vector<std::vector<std::string>> Run(const std::vector<std::unique_ptr<Program>>& from) {
    const double start = last_found_ = ir::ThreadSeconds();
    ConsiderGiven(from, start + options_.seconds / 2);
    last_found_ = ir::ThreadSeconds();
    while (!cells_.empty() && !IsDone() && ir::ThreadSeconds() < start + options_.seconds &&
           ir::ThreadSeconds() < last_found_ + options_.patience) {
      Cell& parent = PickCell();
      ++parent.visits;
      Program& program = *draw_.OneOf(parent.programs);
      auto child =
          draw_.OneIn(2) ? VariantThatMayBreak(RareThing(), program) : VariantOf(program, draw_);
      if (child != nullptr && draw_.OneIn(3)) child = VariantOf(*child, draw_);
      if (child != nullptr) Consider(std::move(child));
    }
    std::vector<std::vector<std::string>> found;
    for (Wanted& mutant : mutants_) {
      found.push_back(std::move(mutant.found));
      if (mutant.is_told)
        std::rotate(found.back().begin(), found.back().end() - 1, found.back().end());
      for (const std::vector<std::string>* rest : {&mutant.refused, &mutant.empty})
        found.back().insert(found.back().end(), rest->begin(), rest->end());
    }
    return found;
  }

 private:
  static constexpr size_t kVariantsOfGiven = 10;
  static constexpr size_t kVariantsForMutant = 40;  // of all that are given
  static constexpr size_t kOfACell = 4;
  static constexpr size_t kMostBroken = 3;  // of programs that are varied again
  static constexpr size_t kNear = 2;        // of those that mutants are tried on
  static constexpr int kMostTries = 200;    // of one mutant, at what the rule matches
  static constexpr int kMostRuns = 1000;    // of one mutant
  static constexpr size_t kMostElements = 4000;
  static constexpr size_t kMostSizes = 5;  // that are told apart
  static constexpr size_t kOpened = 3;     // one in so many near ones is also tried with symbols

  struct Wanted {
    Rule rule;
    std::vector<std::string> found{}, refused{}, empty{};  // no result has an element
    bool is_told = false;                                  // by the last one that was found
    int tries = 0, runs = 0;
  };
  struct Cell {
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<size_t> small;  // of each, how many sizes of inputs are
    size_t visits = 0, seen = 0;
  };

  static Rule WithoutGain(Rule rule) {
    std::erase_if(rule.graph.constraints, [](const auto& c) { return c.profitable; });
    return rule;
  }

  // As they are, and then variants, of each as many as of the others: the more mutants, the more. Those of
  // open sizes come as variants alone, with numbers for them.
  void ConsiderGiven(const std::vector<std::unique_ptr<Program>>& from, double end) {
    for (const auto& program : from) Consider(program->Clone());
    size_t left = kVariantsForMutant * mutants_.size();
    for (size_t i = 0; i < kVariantsOfGiven; ++i)
      for (size_t k = 0; k < from.size() && left > 0; ++k, --left) {
        if (IsDone() || ir::ThreadSeconds() > end) return;
        if (auto variant = VariantOf(*from[k], draw_)) Consider(std::move(variant));
      }
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
      if (broken.size() <= kNear) {
        Offer(*program, op, text, broken.empty());
        if (draw_.OneIn(kOpened)) OfferOpened(*program);
      }
      if (broken.size() > kMostBroken) return;
      if (broken.size() == 1) ++alone_[broken[0]];
      Cell& cell = cells_[{broken, CountSizes(*program)}];
      if (cell.seen++ == 0) by_size_[broken.size()].push_back(&cell);
      AddTo(&cell, std::move(program));
      return;
    }
  }

  // Half of them are those with the fewest sizes of 0 and 1, on which many mistakes do not show.
  void AddTo(Cell* cell, std::unique_ptr<Program> program) {
    const size_t small = CountSmallSizes(*program);
    for (size_t i = 0; i < kOfACell / 2; ++i) {
      if (i == cell->programs.size()) break;
      if (small >= cell->small[i]) continue;
      cell->small[i] = small;
      cell->programs[i] = std::move(program);
      return;
    }
    if (cell->programs.size() < kOfACell) {
      cell->programs.push_back(std::move(program));
      cell->small.push_back(small);
    } else if (draw_.Below(cell->seen) < kOfACell) {
      cell->programs[kOfACell / 2 + draw_.Below(kOfACell / 2)] = std::move(program);
    }
  }
  static size_t CountSmallSizes(Program& program) {
    constexpr size_t kEmpty = 8;  // as bad as so many of 1
    size_t count = 0;
    for (const ir::Value input : program.body().arguments())
      for (const int64_t size : input.type().dims()) count += size == 0 ? kEmpty : size == 1;
    return count;
  }

  // One that few programs were found for on which it alone does not hold.
  size_t RareThing() {
    constexpr int kChoices = 4;
    size_t rarest = draw_.Below(relaxed_.size());
    for (int i = 1; i < kChoices; ++i) {
      const size_t other = draw_.Below(relaxed_.size());
      if (alone_[other] < alone_[rarest]) rarest = other;
    }
    return rarest;
  }
  std::unique_ptr<Program> VariantThatMayBreak(size_t number, Program& program) {
    std::vector<Operation> ops;
    ir::Walk(program, [&](Operation op) { ops.push_back(op); });
    for (const Operation op : ops) {
      drr::MatchContext match(&relaxed_.rule());
      if (relaxed_.Match(op, &match))
        return VariantOf(program, draw_, relaxed_.About(number, match));
    }
    return nullptr;
  }
  // How many different sizes there are: where few are, more fits by chance.
  static size_t CountSizes(Program& program) {
    std::set<int64_t> sizes;
    const auto add = [&](ir::Value value) {
      if (value.type().IsTensor() && value.type().HasRank())
        for (const int64_t size : value.type().dims())
          if (size > 1) sizes.insert(size);
    };
    for (const ir::Value input : program.body().arguments()) add(input);
    ir::Walk(program, [&](Operation op) {
      for (const ir::Value result : op.results()) add(result);
    });
    return std::min(sizes.size(), kMostSizes);
  }

  // `holds`: all of the rule.
  void Offer(Program& program, Operation site, const std::string& text, bool holds) {
    for (Wanted& mutant : mutants_) {
      if (mutant.is_told || mutant.runs >= kMostRuns || (holds && mutant.tries >= kMostTries))
        continue;
      drr::MatchContext match(&mutant.rule);
      if (!drr::Matcher(mutant.rule).Match(site, &match)) continue;
      mutant.tries += holds;
      if (const auto after = ApplyOnce(mutant.rule, program, site, nullptr)) {
        // Where it says more of the numbers, all programs tell.
        if (mutant.rule.numerics == rule_.numerics && MakesTheSame(rule_, program, site, *after))
          continue;
        ++mutant.runs;
        mutant.is_told = ShowsMistake(mutant.rule, program, *after);
        if (!mutant.is_told && mutant.found.size() >= options_.wanted) continue;
        const bool is_empty = !mutant.is_told && ComputesNothing(program);
        if (is_empty && mutant.empty.size() >= options_.refused) continue;
        (is_empty ? mutant.empty : mutant.found).push_back(text);
        last_found_ = ir::ThreadSeconds();
      } else if (mutant.refused.size() < options_.refused && !IsRefusedToo(program, site)) {
        mutant.refused.push_back(text);
        last_found_ = ir::ThreadSeconds();
      }
    }
  }
  static bool ComputesNothing(Program& program) {
    const Operation terminator = program.body().Terminator();
    if (!terminator) return false;
    const std::vector<ir::Value> results = terminator.operands().vec();
    return std::all_of(results.begin(), results.end(), [](ir::Value result) {
      return result.type().IsStatic() && result.type().NumElements() == 0;
    });
  }
  // On inputs of one kind or two; which mistakes that does not show, a judge says.
  bool ShowsMistake(const Rule& mutant, Program& before, Program& after) {
    constexpr double kAnotherFunction = 1e-3;
    const std::optional<std::vector<ir::Type>> types = ClosedInputTypes(before);
    if (!types) return false;
    if (!ir::Verify(after).ok()) return true;
    const bool is_exact = mutant.numerics == drr::NumericClass::kExact;
    for (const InputKind kind : {InputKind::kLattice, InputKind::kSpecial}) {
      if (kind == InputKind::kSpecial && !is_exact) break;
      const std::vector<ir::Attribute> inputs = MakeInputs(*types, kind, options_.seed);
      constexpr auto kKernels = ir::ProgramRunner::Kernels::kReference;
      const auto expected = options_.runner->Run(before, inputs, kKernels);
      if (!expected.ok()) return false;
      const auto actual = options_.runner->Run(after, inputs, kKernels);
      if (!actual.ok()) return true;
      Results results{*expected, *actual};
      if (!is_exact) IgnoreUndefined(&results.before, &results.after);
      const Difference difference = CompareAll(results.before, results.after);
      if (is_exact ? !difference.same_bits : difference.relative > kAnotherFunction) return true;
    }
    return false;
  }
  // With symbols for some of its sizes.
  void OfferOpened(Program& program) {
    std::set<int64_t> sizes;
    for (const ir::Value input : program.body().arguments())
      for (const int64_t size : input.type().dims())
        if (size > 1 && draw_.OneIn(2)) sizes.insert(size);
    const auto opened = sizes.empty() ? nullptr : WithOpenSizes(program, sizes);
    if (opened == nullptr) return;
    std::vector<Operation> ops;
    ir::Walk(*opened, [&](Operation op) { ops.push_back(op); });
    const std::string text = ir::PrintProgram(*opened, {.full_weights = true});
    for (const Operation op : ops) Offer(*opened, op, text, false);
  }
  bool IsRefusedToo(Program& program, Operation site) const {
    drr::MatchContext match(&rule_);
    return drr::Matcher(rule_).Match(site, &match) &&
           ApplyOnce(rule_, program, site, nullptr) == nullptr;
  }

  bool IsDone() const {
    return std::all_of(mutants_.begin(), mutants_.end(),
                       [&](const Wanted& mutant) { return mutant.is_told; });
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
  std::map<std::pair<std::vector<size_t>, size_t>, Cell>
      cells_;                  // by what is broken, and CountSizes
  std::vector<size_t> alone_;  // by thing: of how many programs it alone did not hold
  std::array<std::vector<Cell*>, kMostBroken + 1> by_size_;
  std::set<size_t> texts_;  // digests
  double last_found_ = 0;
};

}  // namespace

std::vector<std::vector<std::string>> NearMisses(const Rule& rule,
                                                 std::span<const Rule* const> mutants,
                                                 const std::vector<std::unique_ptr<Program>>& from,
                                                 const NearMissOptions& options) {
  return Breeding(rule, mutants, options).Run(from);
}

}  // namespace weft::passes

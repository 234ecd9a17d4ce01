#include "passes/verify/rule_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/base/thread_time.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/verify/apply_once.h"
#include "passes/verify/counterexample.h"
#include "passes/verify/difference.h"
#include "passes/verify/in_double.h"
#include "passes/verify/input_sizes.h"
#include "passes/verify/match_assignment.h"
#include "passes/verify/mutation/idle_attributes.h"
#include "passes/verify/program_variants.h"
#include "passes/verify/proof/rule_proof.h"
#include "passes/verify/rounding_bound.h"
#include "passes/verify/rule_instances.h"
#include "passes/verify/search/model_programs.h"
#include "passes/verify/suggest_constraint.h"
#include "passes/verify/test_inputs.h"

namespace weft::passes {
namespace {

using drr::NumericClass;
using ir::Attribute;
using ir::Operation;
using ir::Program;
using ir::ProgramRunner;
using Kernels = ProgramRunner::Kernels;

// Of the largest element. In double precision another function shows at once; f32 constants of two
// programs may be rounded otherwise, which is what is left.
constexpr double kSameFunction = 1e-6;
constexpr double kApproximation = 1e-3;
constexpr double kRoundings =
    256 * 0x1p-24;                   // of functions such as exp each kernel rounds otherwise
constexpr double kFewRoundings = 8;  // units

class Judge {
 public:
  Judge(const drr::Rule& rule, const JudgeOptions& options) : rule_(rule), options_(options) {
    result_.rule = rule.name;
    result_.numerics = rule.numerics;
    // What pays is no question here.
    const auto pays = [](const drr::Constraint& c) { return c.profitable; };
    std::erase_if(rule_.graph.constraints, pays);
    if (options.original && options.original->numerics == rule.numerics)
      original_.emplace(*options.original);
    if (original_) std::erase_if(original_->graph.constraints, pays);
    for (const drr::Constraint& constraint : rule.graph.constraints)
      result_.native |= constraint.formula.name.empty();
  }
  RuleJudgement Run();

 private:
  // What is compared: the program before and after, in f32 and in double.
  struct Pair {
    Program* before = nullptr;
    Program* after = nullptr;
    std::unique_ptr<Program> before_in_double, after_in_double;
    double unit = 0;  // of rounding, where there are those in double
  };
  // Of a program that is given: the first place where the rule applies.
  void AddSites(std::unique_ptr<Program> program, std::vector<RuleInstance>* instances);
  std::vector<RuleInstance> GivenInstances();
  // Those of which a solver finds the sizes.
  std::vector<RuleInstance> ModelledInstances();
  // Of those that there is time for by `end`.
  void CheckAll(std::vector<RuleInstance>& instances, double end);
  bool IsDone() const { return options_.stop_at_refutation && refutations_ > 0; }
  void CheckInstance(RuleInstance& instance);
  // `before`: the program of the instance, or that with more outputs.
  void CheckProgram(Program& before, Operation site, const RuleInstance& instance);
  // False when the original does not run on these.
  bool CheckOn(Pair& pair, const std::vector<Attribute>& inputs, InputKind kind);
  bool CheckExact(Pair& pair, const std::vector<Attribute>& inputs, InputKind kind);
  bool CheckReassociated(Pair& pair, const std::vector<Attribute>& inputs);
  bool CheckApproximate(Pair& pair, const std::vector<Attribute>& inputs);
  std::string WhyNotRounding(Pair& pair, const std::vector<Attribute>& wide_inputs,
                             const Results& wide, const Results& results);
  void NoteUndefined(const std::vector<Attribute>& inputs, const Results& results);
  // As the function of that name, but for steps, which are kept.
  std::string WhyNotSame(const std::vector<Attribute>& inputs, const Results& results,
                         double relative);
  // Both programs; nothing where the original does not run.
  std::optional<Results> RunBoth(Program& before, Program& after,
                                 const std::vector<Attribute>& inputs, Kernels kernels,
                                 bool in_double = false);
  void Refute(Pair& pair, const std::vector<Attribute>& inputs, const Results& results,
              const std::string& why);
  // Of a mutant: false where its original makes the same.
  bool IsMistake(Program& before, Operation site, Program& after);
  bool IsOver(double end) const {
    return ir::ThreadSeconds() >= end || (options_.stop && options_.stop());
  }

  drr::Rule rule_;
  std::optional<drr::Rule> original_;
  const JudgeOptions& options_;
  RuleJudgement result_;
  size_t smallest_ = SIZE_MAX;  // of the counterexamples
  InputKind kind_ = InputKind::kLattice;
  int refutations_ = 0;
  std::vector<const RuleInstance*> right_, wrong_;
  std::vector<Assignment> starts_;  // for the search
  double sum_of_ulps_ = 0;
  int64_t elements_ = 0;
  std::string cannot_run_;
  bool has_elements_ = false;  // a result of one program
  bool any_elements_ = false;  // a result of any
  // Of one program: whether no result was a number so far, and one that became a number.
  struct Undefined {
    bool always = true, differs = false;
    std::vector<Attribute> inputs{};
    Results results{};
  } undefined_;
  // Of one program: its 8-bit results on all inputs, and those of the inputs on which the most differ. One
  // input may have many ties.
  struct Steps {
    Difference all;
    int64_t most = 0;
    std::vector<Attribute> inputs{};
    Results results{};
  } steps_;
};

RuleJudgement Judge::Run() {
  const double part = options_.seconds / 2;
  const double found_by = ir::ThreadSeconds() + part, end = found_by + part;
  std::vector<RuleInstance> given = GivenInstances(), made;
  CheckAll(given, end);
  std::function<std::vector<Assignment>()> when_stuck;
  if (given.empty() && !original_)
    when_stuck = [&] {
      given = ModelledInstances();
      CheckAll(given, end);
      return std::move(starts_);
    };
  const double soon = ir::ThreadSeconds() + std::min(2.0, options_.seconds / 8);
  std::string why;
  int refused = 0;
  if (!IsDone())
    made = MakeInstances(rule_,
                         {.wanted = options_.instances,
                          .attempts = options_.attempts,
                          .seed = options_.seed,
                          .symbolic = options_.symbolic,
                          .original = original_ ? &*original_ : nullptr,
                          .starts = starts_,
                          .when_stuck = when_stuck,
                          .stuck_at = soon,
                          .until = found_by,
                          .stop = options_.stop},
                         &why, &refused);
  result_.refused += refused;
  result_.cut_short |= IsOver(found_by);
  CheckAll(made, end);
  result_.mean_ulps = elements_ == 0 ? 0 : sum_of_ulps_ / static_cast<double>(elements_);
  if (result_.verdict == Verdict::kRefuted) {
    if (options_.stop_at_refutation) return std::move(result_);
    const std::string lacks = SuggestConstraint(rule_, right_, wrong_);
    if (!lacks.empty())
      result_.counterexample += fmt::format("// it would be excluded by: {}\n", lacks);
    return std::move(result_);
  }
  if (any_elements_) {
    result_.verdict = Verdict::kTested;
    return std::move(result_);
  }
  result_.why = given.empty() && made.empty() ? "no program found on which it applies: " + why
                : result_.comparisons > 0
                    ? "no program found on which it applies and of which a result has an element"
                    : "no such program runs: " + cannot_run_;
  if (result_.cut_short)
    result_.why = fmt::format("{:.3g} s did not suffice; {}", options_.seconds, result_.why);
  return std::move(result_);
}

void Judge::CheckAll(std::vector<RuleInstance>& instances, double end) {
  for (RuleInstance& instance : instances) {
    const bool is_over = IsOver(end);
    result_.cut_short |= is_over;
    if (is_over || IsDone()) return;
    const int comparisons = result_.comparisons, refutations = refutations_;
    CheckInstance(instance);
    if (result_.comparisons == comparisons) continue;
    (refutations_ == refutations ? right_ : wrong_).push_back(&instance);
  }
}

std::vector<RuleInstance> Judge::GivenInstances() {
  std::vector<RuleInstance> instances;
  if (!options_.seeds) return instances;
  std::vector<std::unique_ptr<Program>> programs = options_.seeds(rule_), variants;
  Draw draw(rule_.graph, options_.seed);
  for (const auto& program : programs)
    for (int i = 0; i < options_.variants; ++i)
      if (auto variant = VariantOf(*program, draw)) variants.push_back(std::move(variant));
  for (auto& program : programs) {
    for (Assignment& start : AssignmentsOf(rule_, *program)) starts_.push_back(std::move(start));
    AddSites(std::move(program), &instances);
  }
  const size_t most = instances.size() + static_cast<size_t>(options_.instances);
  for (auto& variant : variants)
    if (instances.size() < most) AddSites(std::move(variant), &instances);
  return instances;
}

std::vector<RuleInstance> Judge::ModelledInstances() {
  std::vector<RuleInstance> instances;
  for (auto& program : ModelPrograms(
           rule_, {}, {.wanted = 6, .seconds = options_.seconds / 8, .seed = options_.seed})) {
    for (Assignment& start : AssignmentsOf(rule_, *program)) starts_.push_back(std::move(start));
    AddSites(std::move(program), &instances);
  }
  return instances;
}

void Judge::AddSites(std::unique_ptr<Program> program, std::vector<RuleInstance>* instances) {
  const std::optional<std::vector<ir::Type>> types = ClosedInputTypes(*program);
  if (!types) return;
  std::vector<Operation> ops;
  ir::Walk(*program, [&](Operation op) { ops.push_back(op); });
  for (const Operation op : ops) {
    const auto after = ApplyOnce(rule_, *program, op, nullptr);
    if (after != nullptr && original_ && MakesTheSame(*original_, *program, op, *after)) continue;
    if (after == nullptr) {
      drr::MatchContext match(&rule_), as_original(original_ ? &*original_ : &rule_);
      result_.refused += original_ && drr::Matcher(rule_).Match(op, &match) &&
                         (!drr::Matcher(*original_).Match(op, &as_original) ||
                          ApplyOnce(*original_, *program, op, nullptr) != nullptr);
      continue;
    }
    const bool symbolic = HasOpenSizes(*program);
    instances->push_back({std::move(program), op, symbolic, *types});
    return;
  }
}

void Judge::CheckInstance(RuleInstance& instance) {
  CheckProgram(*instance.program, instance.site, instance);
  Operation site;
  if (const auto kept = WithKeptOutputs(rule_, instance, &site))
    CheckProgram(*kept, site, instance);
}

void Judge::CheckProgram(Program& before, Operation site, const RuleInstance& instance) {
  if (rule_.numerics == NumericClass::kReassociates && MakesIntegersOfNoNumber(before)) return;
  const std::unique_ptr<Program> after = ApplyOnce(rule_, before, site, nullptr);
  if (after == nullptr) return;  // of a variant
  if (HasLargeValue(before) || HasLargeValue(*after)) {
    cannot_run_ = fmt::format("a value has more than {} elements", kMostElementsOfValue);
    return;
  }
  const int differing = result_.differing;
  if (original_ && !IsMistake(before, site, *after)) return;
  Pair pair{&before, after.get()};
  if (const absl::Status status = ir::Verify(*after); !status.ok()) {
    ++result_.comparisons;
    Refute(pair, {}, {}, "the result is not valid: " + std::string(ir::Message(status)));
    return;
  }
  if (rule_.numerics == NumericClass::kReassociates) {
    pair.before_in_double = InDouble(before);
    pair.after_in_double = InDouble(*after);
    pair.unit = std::max(UnitRoundoff(before), UnitRoundoff(*after));
  }
  bool compared = false;
  undefined_ = {};
  steps_ = {};
  has_elements_ = false;
  const std::vector<double> numbers = NumbersToApproach(before, instance.types);
  for (const std::vector<ir::Type>& types : InputTypesOf(instance, options_.seed)) {
    // Of more sizes the question is whether they are right at all.
    const std::vector<InputKind> kinds = compared ? std::vector<InputKind>{InputKind::kLattice}
                                                  : InputKindsFor(rule_.numerics, types, numbers);
    for (const InputKind kind : kinds)
      for (int i = 0; i < options_.inputs * (kind == InputKind::kSpecial ? 4 : 1); ++i)
        compared |= CheckOn(
            pair, MakeInputs(types, kind, options_.seed + static_cast<uint64_t>(i), numbers), kind);
  }
  if (undefined_.always && undefined_.differs)
    Refute(pair, undefined_.inputs, undefined_.results,
           "no number on any inputs, and then it is one");
  if (!AreTies(steps_.all))
    Refute(
        pair, steps_.inputs, steps_.results,
        fmt::format("{} of {} elements differ by one", steps_.all.differing, steps_.all.elements));
  if (!has_elements_ && result_.differing > differing) {
    --result_.differing;
    ++(compared ? result_.empty : result_.not_run);
  }
  any_elements_ |= compared && has_elements_;
  result_.instances += compared && has_elements_;
  result_.symbolic += compared && has_elements_ && instance.symbolic;
}

bool Judge::IsMistake(Program& before, Operation site, Program& after) {
  if (MakesTheSame(*original_, before, site, after)) return false;
  const std::string made = TextWithoutIdle(*after.Clone());
  // Whether the rule makes the same of it, but for idle attributes.
  const auto makes_it = [&](Program& from, Operation at) {
    const auto expected = ApplyOnce(*original_, from, at, nullptr);
    return expected != nullptr && TextWithoutIdle(*expected) == made;
  };
  bool is_idle = makes_it(before, site);
  if (!is_idle) {
    const std::unique_ptr<Program> without_idle = CloneWith(before, &site);
    is_idle = DropIdleAttributes(*without_idle) > 0 && makes_it(*without_idle, site);
  }
  ++(is_idle ? result_.idle : result_.differing);
  return true;
}

bool Judge::CheckOn(Pair& pair, const std::vector<Attribute>& inputs, InputKind kind) {
  kind_ = kind;
  switch (rule_.numerics) {
    case NumericClass::kExact:
      return CheckExact(pair, inputs, kind);
    case NumericClass::kReassociates:
      return CheckReassociated(pair, inputs);
    case NumericClass::kApproximate:
      return CheckApproximate(pair, inputs);
    case NumericClass::kChangesMeaning:
      return RunBoth(*pair.before, *pair.after, inputs, Kernels::kReference).has_value();
  }
  return false;
}

std::optional<Results> Judge::RunBoth(Program& before, Program& after,
                                      const std::vector<Attribute>& inputs, Kernels kernels,
                                      bool in_double) {
  auto expected = options_.runner->Run(before, inputs, kernels);
  if (!expected.ok()) {
    cannot_run_ = ir::Message(expected.status());
    return std::nullopt;
  }
  ++result_.comparisons;
  const bool has_elements =
      std::any_of(expected->begin(), expected->end(),
                  [](const Attribute result) { return result.dense_type().NumElements() > 0; });
  has_elements_ |= has_elements;
  auto actual = options_.runner->Run(after, inputs, kernels);
  Results results{std::move(*expected), {}};
  if (actual.ok()) {
    results.after = std::move(*actual);
    return results;
  }
  // Bodies of fused ops, which no kernel runs, have no numbers to compare then.
  if (in_double && !has_elements) return std::nullopt;
  Pair pair{&before, &after};
  Refute(pair, inputs, results,
         "the result does not run: " + std::string(ir::Message(actual.status())));
  return std::nullopt;
}

bool Judge::CheckExact(Pair& pair, const std::vector<Attribute>& inputs, InputKind kind) {
  auto results = RunBoth(*pair.before, *pair.after, inputs, Kernels::kReference);
  if (!results) return false;
  if (!CompareAll(results->before, results->after).same_bits)
    Refute(pair, inputs, *results, "not bit for bit the same");
  if (kind != InputKind::kLattice) return true;
  results = RunBoth(*pair.before, *pair.after, inputs, Kernels::kDefault);
  if (!results) return true;
  if (CompareAll(results->before, results->after).relative > kRoundings)
    Refute(pair, inputs, *results, "not the same on the default kernels");
  return true;
}

bool Judge::CheckReassociated(Pair& pair, const std::vector<Attribute>& inputs) {
  std::vector<Attribute> wide_inputs;
  wide_inputs.reserve(inputs.size());
  for (const Attribute input : inputs) wide_inputs.push_back(AsDoubles(input));
  auto wide =
      RunBoth(*pair.before_in_double, *pair.after_in_double, wide_inputs, Kernels::kReference,
              /*in_double=*/true);
  if (wide) {
    IgnoreUndefined(&wide->before, &wide->after);
    if (std::string why = WhyNotSame(inputs, *wide, kSameFunction); !why.empty())
      Refute(pair, inputs, *wide, why + " in double precision");
  }
  auto results = RunBoth(*pair.before, *pair.after, inputs, Kernels::kDefault);
  if (!results) return wide.has_value();
  NoteUndefined(inputs, *results);
  IgnoreUndefined(&results->before, &results->after);
  std::string why = WhyNotSame(inputs, *results, wide ? kFewRoundings * pair.unit : kSameFunction);
  if (wide && !why.empty()) why = WhyNotRounding(pair, wide_inputs, *wide, *results);
  if (!why.empty()) Refute(pair, inputs, *results, why + " on the default kernels");
  return true;
}

// Both programs round, each as often as it does.
std::string Judge::WhyNotRounding(Pair& pair, const std::vector<Attribute>& wide_inputs,
                                  const Results& wide, const Results& results) {
  std::vector<double> bounds =
      RoundingBounds(*pair.before_in_double, wide_inputs, wide.before, pair.unit, *options_.runner);
  const std::vector<double> after =
      RoundingBounds(*pair.after_in_double, wide_inputs, wide.after, pair.unit, *options_.runner);
  if (bounds.size() != after.size()) return "another number of outputs";
  for (size_t i = 0; i < bounds.size(); ++i)
    bounds[i] += after[i] + Compare(wide.before[i], wide.after[i]).absolute;
  Difference steps;
  return passes::WhyNotSame(results, kFewRoundings * pair.unit, &steps, bounds);
}

std::string Judge::WhyNotSame(const std::vector<Attribute>& inputs, const Results& results,
                              double relative) {
  Difference steps;
  std::string why = passes::WhyNotSame(results, relative, &steps);
  steps_.all.Add(steps);
  if (steps.differing > steps_.most) {
    steps_.most = steps.differing;
    steps_.inputs = inputs;
    steps_.results = results;
  }
  return why;
}

// What is no real number may become another, but not all that a program computes.
void Judge::NoteUndefined(const std::vector<Attribute>& inputs, const Results& results) {
  for (size_t i = 0; i < std::min(results.before.size(), results.after.size()); ++i) {
    const Attribute before = results.before[i], after = results.after[i];
    if (!(before.dense_type() == after.dense_type())) continue;
    for (int64_t k = 0, n = before.dense_type().NumElements(); k < n; ++k) {
      const bool is_number = std::isfinite(ir::DenseElement(before, k));
      undefined_.always &= !is_number;
      if (is_number || undefined_.differs || !std::isfinite(ir::DenseElement(after, k))) continue;
      undefined_.differs = true;
      undefined_.inputs = inputs;
      undefined_.results = results;
    }
  }
}

bool Judge::CheckApproximate(Pair& pair, const std::vector<Attribute>& inputs) {
  auto results = RunBoth(*pair.before, *pair.after, inputs, Kernels::kReference);
  if (!results) return false;
  NoteUndefined(inputs, *results);
  IgnoreUndefined(&results->before, &results->after);
  const Difference difference = CompareAll(results->before, results->after);
  result_.max_ulps = std::max(result_.max_ulps, difference.ulps);
  sum_of_ulps_ += difference.sum_of_ulps;
  elements_ += difference.elements;
  // Of 8 bits, saturated ones among them, the steps are told and no more.
  const bool is_quantized =
      std::any_of(results->before.begin(), results->before.end(), IsQuantized);
  if (!is_quantized && std::min(difference.relative, difference.absolute) > kApproximation)
    Refute(pair, inputs, *results,
           fmt::format("off by {:.3g} of the largest element", difference.relative));
  return true;
}

void Judge::Refute(Pair& pair, const std::vector<Attribute>& inputs, const Results& results,
                   const std::string& why) {
  result_.verdict = Verdict::kRefuted;
  ++refutations_;
  size_t size = 1000 * pair.before->num_operations();
  for (const Attribute input : inputs)
    size += static_cast<size_t>(input.dense_type().NumElements());
  if (size >= smallest_) return;
  smallest_ = size;
  result_.why = inputs.empty() ? why : fmt::format("{}, on {}", why, InputKindName(kind_));
  result_.counterexample = CounterexampleText(*pair.before, *pair.after, inputs, results);
}

}  // namespace

RuleJudgement JudgeRule(const drr::Rule& rule, const JudgeOptions& options) {
  RuleJudgement judgement{.rule = rule.name, .numerics = rule.numerics};
  try {
    judgement = Judge(rule, options).Run();
  } catch (const std::bad_alloc&) {
    judgement.why = "a program on which it applies takes more memory than there is";
    return judgement;
  }
  if (!options.prove || judgement.verdict == Verdict::kRefuted) return judgement;
  RuleProof proof = ProveRule(rule, {});
  judgement.proved = std::move(proof.what);
  judgement.unproved = std::move(proof.why);
  return judgement;
}

}  // namespace weft::passes

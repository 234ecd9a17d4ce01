// Judges a rule by what it does to programs that are made from it: is what it says of its numbers
// true?
//
//   RuleJudgement judgement = JudgeRule(rule, {.runner = &runner});
//   if (judgement.verdict == Verdict::kRefuted) std::puts(judgement.counterexample.c_str());
//
// On every instance (passes/verify/rule_instances.h) the program before and after one application of
// the rule is run on inputs of several kinds (passes/verify/test_inputs.h). What must hold depends on
// the rule's numeric class:
//
//   exact            the reference kernels give the same bits on all inputs, special ones included,
//                    and the default kernels the same up to a few roundings on small integers
//   reassociates     in double precision results are the same up to its rounding, and on the default
//                    kernels, in f32, up to as many roundings as both programs take
//                    (passes/verify/rounding_bound.h)
//   approximate      results differ by at most 1e-3 of the largest, or of 1; those of 8 bits by any
//                    number of steps, which is told
//   changes-meaning  both run, and results have the same types
//
// Constraints about gain are left out. Variants of an instance: intermediate values that the rule
// keeps are outputs too; sizes are symbols, which are bound to others than the instance was made with,
// or not even ranks are known.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/evaluator.h"

namespace weft::passes {

// Of what is said here. Judgements that are kept (passes/verify/judgement_cache.h) name it.
inline constexpr int kJudgeVersion = 5;

enum class Verdict : uint8_t { kTested, kRefuted, kUnjudged };

struct JudgeOptions {
  ir::ProgramRunner* runner = nullptr;  // required
  int instances = 24;
  int attempts = 8000;   // at making an instance
  int inputs = 2;        // of each kind, for each instance
  bool symbolic = true;  // also with symbols for sizes
  uint64_t seed = 1;
  // CPU time of the calling thread, so that it depends little on what else runs: half of it to find
  // instances; those are left that it does not reach.
  double seconds = 40;
  std::function<bool()> stop = nullptr;  // asked now and then; true cuts it short
  bool prove = false;  // try for all sizes as well, with Z3 (passes/verify/proof/rule_proof.h)
  // Of a mutant the rule that it was made from, which is taken to be right: programs that both make the
  // same of are passed over, if both have one numeric class.
  const drr::Rule* original = nullptr;
  // Ends at the first program that refutes, which need not be the smallest.
  bool stop_at_refutation = false;
  // More programs for the rule, e.g. of golden tests, of which it applies somewhere; null is fine. They
  // and so many variants (passes/verify/program_variants.h) of each that the rule is tried on come first.
  int variants = 60;
  std::function<std::vector<std::unique_ptr<ir::Program>>(const drr::Rule&)> seeds;
};

struct RuleJudgement {
  std::string rule;
  drr::NumericClass numerics = drr::NumericClass::kReassociates;
  bool native = false;  // some constraint is C++ code
  Verdict verdict = Verdict::kUnjudged;
  std::string why;  // one line: of a rule that is refuted or unjudged
  // Of a refuted one: the program before, the inputs, both results, and if there is one a constraint
  // (passes/verify/suggest_constraint.h) that would exclude all such programs.
  std::string counterexample;
  int instances = 0;  // programs that were compared
  int refused = 0;    // attempts at one on which it matches, and the engine refuses what it makes
  // Of a mutant: programs of which it makes something else than its original; and those where the two
  // differ in attributes alone that say nothing (passes/verify/mutation/idle_attributes.h); and those of which
  // no result has an element, or which cannot be run. `differing` are the others.
  int differing = 0, idle = 0, empty = 0, not_run = 0;
  int symbolic = 0;     // of those with sizes that were symbols when the rule was applied
  int comparisons = 0;  // of results on one set of inputs
  double max_ulps = 0, mean_ulps = 0;  // of an approximate rule, in f32
  bool cut_short = false;              // with more time there would have been more programs
  std::string proved;                  // for what it is proved, e.g. "all sizes, ..."; or empty
  std::string unproved;                // why it is not, one line; empty where nobody asked

  // "proved (all sizes, any element type)", "tested 24", "approximate: 3.2 ulp", "native: tested 8",
  // "refuted", "unjudged".
  std::string Badge() const;
  // Without the numbers, which depend on the compiler: "tested", "native: tested", "approximate".
  std::string BadgeKind() const;
};

RuleJudgement JudgeRule(const drr::Rule& rule, const JudgeOptions& options);

}  // namespace weft::passes

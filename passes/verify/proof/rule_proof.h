// Proves that a rule is true for all sizes, in programs that link a solver (solver.h):
//
//   const RuleProof proof = ProveRule(rule, {});
//   if (proof.verdict == ProofVerdict::kProved) std::puts(proof.what.c_str());
//
// The source, what its constraints say, and the result are read as tensors with sizes, elements and
// attributes left open; each combination of ranks up to 5, alternatives, optional operands, permutations
// and axes is a case (rule_case.h). Proved is that in each case every replaced value has the shape and
// the elements of what replaces it. (That ops of the result take their operands is checked whenever the
// rule is applied, and here where broadcasting, joining or reshaping asks for it.)
//
//   any rule              elements that only move, and equal functions of equal elements, whatever the
//                         functions are: bit for bit, for any element type
//   exact                 sums, products and logic in each element type: floats as IEEE 754 has them
//   reassociates          floats as real numbers
//
// What is proved relies on the meaning of ops (op_meaning.h) and of named constraints; constraints of
// native code are not relied on. Nothing is proved of a rule that is approximate or changes meaning.
#pragma once

#include <cstdint>
#include <string>

#include "drr/rule/rule.h"

namespace weft::passes {

enum class ProofVerdict : uint8_t { kNotAttempted, kNotProved, kProved };

struct ProofOptions {
  // Of one question to Z3: more than it needs, because a busy machine is slow.
  unsigned milliseconds = 2000;
  double seconds = 15;  // of a rule, CPU time of the calling thread
  size_t cases = 20000;
  // Also where some alternative never matches, or nothing at all does: then nothing is wrong.
  bool vacuously = false;
};

struct RuleProof {
  ProofVerdict verdict = ProofVerdict::kNotAttempted;
  std::string
      what;         // of a proved rule: for what, e.g. "all sizes, ranks up to 5, any element type"
  std::string why;  // else: one line
  size_t cases = 0;
};

RuleProof ProveRule(const drr::Rule& rule, const ProofOptions& options);

// Proves that a constraint on the values and attributes of a rule holds wherever the rule matches and its
// result has an element, so that it would say nothing new there; what it says of how much is known before the
// run (that a size is a number) holds of every run. Of constraints of native code nothing is proved. Parts of
// the rule (rule_slice.h) are tried first, `cases` those of one of them.
RuleProof ProveFollows(const drr::Rule& rule, const drr::Formula& constraint,
                       const ProofOptions& options);

}  // namespace weft::passes

// Rules with one mistake each, made from a rule that is right: how strict is its judge?
//
//   for (const Mutant& mutant : MutantsOf(rule)) JudgeRule(mutant.rule, options)
//
// Not all are wrong: a constraint may be about gain, or follow from others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"

namespace weft::passes {

struct Mutant {
  enum Kind : uint8_t {
    kDroppedConstraint,  // one that is not about gain, and that no native code after it may rely on
    kChangedConstraint,  // with another number, or two arguments the other way round
    kSwappedOperands,    // two of a result op
    kChangedAttribute,   // of a result op: a number, list, word, or what it is computed from
    kLooserAttribute,    // of a source op: any value where the rule wants one, or another
    kReplacedOperation,  // of the source or the result, by one that takes the same operands
    kStricterClass,      // exact or reassociates, of what is less
    kLooserEscape,       // intermediate values may have other users
  };
  Kind kind = kDroppedConstraint;
  std::string what;  // one line: "without: x has rank 4"
  drr::Rule rule;    // named after the original: fuse-gemm#3
  // Of a constraint that was dropped or changed: what it said, which may follow from the rest.
  drr::Formula lost{};
  // Why it is right if the rule is, unless a program refutes it: e.g. one of integers.
  std::string harmless{};
};
std::string_view MutantName(Mutant::Kind kind);  // "dropped constraint"

// None of a rule that changes meaning: what it should mean instead, nothing says.
std::vector<Mutant> MutantsOf(const drr::Rule& rule);

}  // namespace weft::passes

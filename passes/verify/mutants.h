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
    kDroppedConstraint,  // one that is not about gain, of a rule without native code
    kSwappedOperands,    // the first two of a result op that is not commutative
    kChangedAttribute,   // a number, list or word that a result op is given
    kStricterClass,      // exact instead of reassociates, reassociates instead of approximate
    kReplacedOperation,  // Add, Sub, Mul, Div, Min and Max by another of them
  };
  Kind kind = kDroppedConstraint;
  std::string what;  // one line: "without: x has rank 4"
  drr::Rule rule;    // named after the original: fuse-gemm#3
};
std::string_view MutantName(Mutant::Kind kind);  // "dropped constraint"

std::vector<Mutant> MutantsOf(const drr::Rule& rule);

}  // namespace weft::passes

// What follows from equations between products of sizes, which solvers are slow at: of a * b == a * c,
// where a is not 0, that b == c; of m == a * b that the one may stand for the other. They come from
// reshapes, which say how many elements there are.
//
//   SizeEquations equations(terms, facts);
//   terms.IsTrue(equations.Simplified(goal));  // where no more than that is needed
#pragma once

#include <map>
#include <set>
#include <vector>

#include "passes/verify/proof/term.h"

namespace weft::passes {

class SizeEquations {
 public:
  // Of facts that all hold; those that are no equations say which sizes are not 0.
  SizeEquations(Terms& terms, const std::vector<Term>& facts);

  // What is equal wherever the facts hold: what sizes equal in their place, and without factors that all
  // of an equation has and that are not 0.
  Term Simplified(Term term);

 private:
  using Monomial = Terms::Monomial;
  using Polynomial = Terms::Polynomial;
  void Learn(const std::vector<Term>& facts);
  bool LearnOrder(Term low, Term high);
  bool LearnEquation(Term fact);
  bool NoteNonZero(const Monomial& product);
  bool IsNonZero(const Monomial& product) const;
  bool IsPositive(Term term) const;
  void DivideByCommon(Polynomial* polynomial) const;
  Term Make(Term term);
  Term MakeInteger(const TermNode& node, Term term);

  Terms& terms_;
  std::set<Term> nonzero_, natural_;  // natural: not below 0
  std::map<Term, Term> solved_;       // variables and what they equal
  std::map<Term, Term> simplified_;   // with what is solved so far
};

}  // namespace weft::passes

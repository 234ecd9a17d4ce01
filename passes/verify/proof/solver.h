// What proofs ask of Z3, which no other file names. Built without Z3 nothing is proved.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/type.h"
#include "passes/verify/proof/term.h"

namespace weft::passes {

bool HasSolver();

// Not to be shared between threads. `terms` must outlive it.
class Solver {
 public:
  // A question that takes longer than so many milliseconds has the answer no.
  Solver(const Terms& terms, unsigned milliseconds);
  Solver(const Solver&) = delete;
  ~Solver();

  // Whether the goal holds wherever all facts do, whatever the functions of elements are.
  bool Proves(const std::vector<Term>& facts, Term goal);
  // Whether there are sizes and indices for which all facts hold.
  bool CanHold(const std::vector<Term>& facts);
  // Whether two elements of this type, or two real numbers, are equal for all values of their
  // variables: floats bit for bit, but that any NaN is as good as another; real numbers where the
  // first divides by none that is 0. The terms are made of numbers, variables and the functions that
  // IsArithmetic() or IsLogic() names.
  bool ProvesEqual(Term before, Term after, std::optional<ir::DataType> type);

 private:
  class Z3;
  std::unique_ptr<Z3> z3_;
};

// Whether ProvesEqual knows what a function computes, or at least that its operands and its result
// have one type.
bool IsArithmetic(const std::string& function);
bool IsLogic(const std::string& function);  // of truth values

}  // namespace weft::passes

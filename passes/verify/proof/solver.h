// What proofs ask of a solver. A program has one when it links weft::z3 (tools/z3); in others nothing is
// proved, and they need no Z3.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"
#include "passes/verify/proof/term.h"

namespace weft::passes {

// Not to be shared between threads.
class Solver {
 public:
  Solver() = default;
  Solver(const Solver&) = delete;
  virtual ~Solver() = default;

  // Whether the goal holds wherever all facts do, whatever the functions of elements are.
  virtual bool Proves(const std::vector<Term>& facts, Term goal) = 0;
  // Whether there are sizes and indices for which all facts hold.
  virtual bool CanHold(const std::vector<Term>& facts) = 0;
  // Values of the integers for which all facts hold, and of the wishes each that can hold with those before
  // it. None where none is found in time.
  virtual std::optional<std::vector<int64_t>> Find(const std::vector<Term>& facts,
                                                   const std::vector<Term>& wishes,
                                                   const std::vector<Term>& integers) = 0;
  // Whether two elements of this type, or two real numbers, are equal for all values of their
  // variables: floats bit for bit, but that any NaN is as good as another; real numbers where the
  // first divides by none that is 0. The terms are made of numbers, variables and the functions that
  // IsArithmetic() or IsLogic() names.
  virtual bool ProvesEqual(Term before, Term after, std::optional<ir::DataType> type) = 0;
};

bool HasSolver();
// One that answers no to a question that takes longer than so many milliseconds; null when there is
// none. `terms` must outlive it.
std::unique_ptr<Solver> MakeSolver(const Terms& terms, unsigned milliseconds);

using SolverFactory = std::unique_ptr<Solver> (*)(const Terms& terms, unsigned milliseconds);
// At namespace scope of the library that has a solver.
struct SolverRegistrar {
  explicit SolverRegistrar(SolverFactory factory);
};

// Whether ProvesEqual knows what a function computes, or at least that its operands and its result
// have one type.
bool IsArithmetic(const std::string& function);
bool IsLogic(const std::string& function);  // of truth values

}  // namespace weft::passes

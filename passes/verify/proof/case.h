// One case of a proof: a choice of ranks, alternatives, axes and so on, with sizes left open. A case
// is built by asking for choices as they are needed; all cases are what is left when every answer has
// been given in every place.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/type.h"
#include "passes/verify/proof/solver.h"
#include "passes/verify/proof/term.h"

namespace weft::passes {

class Tensor;

// The answers so far, in the order of the questions.
struct Choice {
  std::string what;
  size_t options = 0, chosen = 0;  // of the answers from `first` on, around
  size_t first = 0;
  size_t Answer() const { return (first + chosen) % options; }
};
using Script = std::vector<Choice>;
// The next one, in which the last answer that can be another one is; false when there is none.
bool Advance(Script* script);

// What cases of one rule share.
struct ProofState {
  explicit ProofState(unsigned milliseconds) : milliseconds(milliseconds) {}
  // One there is; made when it is asked for, which some cases never do.
  Solver& solver() {
    if (!made_solver) made_solver = MakeSolver(terms, milliseconds);
    return *made_solver;
  }

  Terms terms;
  unsigned milliseconds;  // of one question to it
  std::unique_ptr<Solver> made_solver;
  bool over_reals = false;  // floats are read as real numbers: reassociation is no error
  std::map<std::vector<uint32_t>, bool> answers;
  std::map<std::pair<std::pair<Term, Term>, int>, bool> element_answers;
  bool used_types = false, used_reals = false;  // so far, in a proof
  // The answer that comes first; null: that of number 0.
  std::function<size_t(const std::string& what, size_t options)> first_answer;
};

// Element types that may be one, by number.
using TypeClass = size_t;
using TypeSet = uint32_t;  // a bit for each ir::DataType
constexpr TypeSet kAnyType = ~TypeSet{0};
constexpr TypeSet TypeBit(ir::DataType type) { return TypeSet{1} << static_cast<unsigned>(type); }
TypeSet TypesThat(bool (*hold)(ir::DataType));

class Case {
 public:
  Case(ProofState& state, Script& script);
  ~Case();
  Terms& terms() { return state_.terms; }

  // What becomes of it: nothing yet; a match like this there is none; it could not be proved.
  bool open() const { return why_.empty() && !impossible_; }
  bool impossible() const { return impossible_; }
  const std::string& why() const { return why_; }
  // Of the result nothing is known to be impossible.
  void Refuse();
  // Whatever the sizes, the engine leaves the program as it is: the result is no valid op.
  void NeverApply() { impossible_ = true; }
  void Fail(std::string why);

  // 0 when the case is not open any more.
  size_t Choose(size_t options, const std::string& what);
  bool AskedAll() const { return at_ == script_.size(); }

  // Of the source, which is known to be valid, facts; of the result what is to be proved.
  bool of_result() const { return of_result_; }
  void StartResult() { of_result_ = true; }
  void Assume(Term fact);
  void Require(Term term, bool of_result);
  // Whether it is assumed as it stands.
  bool IsFact(Term fact);
  bool Proves(Term goal, const std::vector<Term>& more_facts = {});
  // What must hold for the tensors of the source or of the result to be tensors at all is assumed, or
  // required.
  void CheckTensors(bool of_result);
  // Whether all that the result requires is proved.
  bool MeetsRequirements();
  // Whether there are sizes for which all facts hold that are linear.
  bool FactsCanHold();
  // Values of integers for which all facts hold (Solver::Find).
  std::optional<std::vector<int64_t>> Find(const std::vector<Term>& wishes,
                                           const std::vector<Term>& integers);

  // Whether floats are real numbers here, of which a proof that asks then is.
  bool ReadsReals();

  // Whether a tensor has provably the shape and elements of one that stands in the source.
  bool Same(Tensor* before, Tensor* after);
  // Whether a has the shape of a tensor of the source with so many elements.
  bool HasProvedSize(const Tensor& a, Term num_elements);
  // Whether tensors that are inputs are functions of the position in row order, not of the indices.
  bool by_position() const { return by_position_; }

  // Element types.
  TypeClass NewType(TypeSet set = kAnyType);
  TypeClass TypeNamed(const std::string& token, TypeSet set = kAnyType);
  void Unify(TypeClass a, TypeClass b);
  void Restrict(TypeClass type, TypeSet set);
  bool SameType(TypeClass a, TypeClass b);
  TypeClass Root(TypeClass type) const;  // one of all that are the same
  TypeSet PossibleTypes(TypeClass type) const { return types_[Root(type)].second; }
  // Of the elements of an input, by the function that has them.
  void NoteElements(const std::string& function, TypeClass type) { elements_[function] = type; }
  // Of two elements, in either order.
  void NoteCommutative(const std::string& function) { commutative_.insert(function); }
  // Casting a to b and then to c is casting it to c.
  void NoteCasts(TypeClass a, TypeClass b, TypeClass c) { casts_.push_back({a, b, c}); }
  bool CastsCompose(TypeClass a, TypeClass b, TypeClass c);

  template <class T, class... Arguments>
  T* Make(Arguments&&... arguments) {
    auto made = std::make_unique<T>(*this, std::forward<Arguments>(arguments)...);
    T* tensor = made.get();
    tensors_.push_back(std::move(made));
    return tensor;
  }
  size_t num_tensors() const { return tensors_.size(); }
  const std::vector<std::unique_ptr<Tensor>>& tensors() const { return tensors_; }

 private:
  friend class Abstraction;
  struct Casts {
    TypeClass a, b, c;
  };
  bool Ask(const std::vector<Term>& facts, Term goal, bool has_others = false);
  bool ProvesSimplified(const std::vector<Term>& facts, Term goal);
  bool SameShapes(Tensor& a, Tensor& b);
  bool SameElements(Tensor& a, Tensor& b);
  bool SameElement(Term a, Term b, const std::vector<Term>& facts);
  bool SameByArithmetic(Term a, Term b, const std::map<Term, TypeClass>& types);
  bool SameInType(Term a, Term b, std::optional<ir::DataType> type);

  ProofState& state_;
  Script& script_;
  size_t at_ = 0;  // in the script
  bool impossible_ = false, of_result_ = false, by_position_ = false;
  std::string why_;
  std::vector<Term> facts_, requirements_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<std::pair<TypeClass, TypeSet>> types_;  // parent, what it may be
  std::map<std::string, TypeClass> named_types_, elements_;
  std::set<std::string> commutative_;
  std::vector<Casts> casts_;
  std::vector<std::pair<const Tensor*, Tensor*>> same_shapes_;  // of the result, of the source
};

}  // namespace weft::passes

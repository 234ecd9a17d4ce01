// Terms of proofs: integers (sizes and indices), truth values, and elements of tensors, of which
// nothing is known but that equal functions of equal elements are equal. Equal terms are one term, and
// integers are kept as polynomials, so that much is equal without a solver:
//
//   Terms t;
//   const Term n = t.Variable(Sort::kInt, "n"), m = t.Variable(Sort::kInt, "m");
//   t.Times(t.Plus(n, t.Integer(1)), m) == t.Plus(t.Times(m, n), m);
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::passes {

enum class Sort : uint8_t { kInt, kBool, kElement };

// The number of a term in its Terms; the default is none.
struct Term {
  uint32_t id = UINT32_MAX;
  explicit operator bool() const { return id != UINT32_MAX; }
  friend bool operator==(Term a, Term b) { return a.id == b.id; }
  friend bool operator<(Term a, Term b) { return a.id < b.id; }
};

struct TermNode {
  enum Kind : uint8_t {
    kInteger,   // `integer`; of truth values 0 and 1
    kNumber,    // an element of this value, `number`, in whatever type it has
    kVariable,  // `name`
    kSum,       // `integer` and each argument times its factor
    kProduct,   // of two arguments or more
    kQuotient,  // rounded down, for a positive divisor
    kRemainder,
    kEqual,
    kAtMost,
    kNot,
    kAnd,
    kIf,     // argument 0 says which of the others
    kApply,  // the function `name`
  };
  Kind kind = kInteger;
  Sort sort = Sort::kInt;
  int64_t integer = 0;
  double number = 0;
  std::string name{};
  std::vector<Term> arguments{};
  std::vector<int64_t> factors{};
  bool is_linear = true;  // no product or quotient of what is no number, here or in an argument
};

class Terms {
 public:
  const TermNode& operator[](Term term) const { return nodes_[term.id]; }
  size_t size() const { return nodes_.size(); }

  Term Integer(int64_t value);
  Term Bool(bool value);
  Term Number(double value);
  Term Variable(Sort sort, const std::string& name);
  Term Apply(Sort sort, const std::string& name, std::vector<Term> arguments);

  Term Plus(Term a, Term b);
  Term Minus(Term a, Term b);
  Term Times(Term a, Term b);
  Term Product(const std::vector<Term>& factors);
  Term Quotient(Term a, Term b);
  Term Remainder(Term a, Term b);

  // Of an integer, by product of what is no sum and no product, the factor, which is not 0.
  using Monomial = std::vector<Term>;  // sorted; none: the constant
  using Polynomial = std::map<Monomial, int64_t>;
  Polynomial PolynomialOf(Term term) const;
  Term OfPolynomial(const Polynomial& polynomial);

  Term Equal(Term a, Term b);  // of one sort
  Term AtMost(Term a, Term b);
  Term Less(Term a, Term b) { return AtMost(Plus(a, Integer(1)), b); }
  Term Not(Term a);
  Term And(Term a, Term b);
  Term Or(Term a, Term b);
  Term If(Term condition, Term yes, Term no);

  bool IsInteger(Term term, int64_t value) const;
  bool IsTrue(Term term) const;
  bool IsFalse(Term term) const;

 private:
  Term Intern(TermNode node);
  // For what does not fit into 64 bits: a variable that occurs nowhere else.
  Term Unknown();

  std::deque<TermNode> nodes_;
  std::unordered_map<std::string, Term> by_text_;
};

}  // namespace weft::passes

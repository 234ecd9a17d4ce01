#include "passes/verify/proof/size_equations.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace weft::passes {
namespace {

bool Mentions(const Terms& terms, Term term, Term variable) {
  const std::vector<Term>& arguments = terms[term].arguments;
  return term == variable || std::any_of(arguments.begin(), arguments.end(), [&](Term argument) {
           return Mentions(terms, argument, variable);
         });
}

// One that is a monomial of its own, with a factor of 1 or -1, and occurs nowhere else.
std::optional<Terms::Monomial> VariableToSolveFor(const Terms& terms,
                                                  const Terms::Polynomial& equation) {
  for (const auto& term : equation) {
    const Terms::Monomial& candidate = term.first;
    if (candidate.size() != 1 || (term.second != 1 && term.second != -1)) continue;
    if (terms[candidate[0]].kind != TermNode::kVariable) continue;
    const bool is_elsewhere = std::any_of(equation.begin(), equation.end(), [&](const auto& other) {
      return other.first != candidate &&
             std::any_of(other.first.begin(), other.first.end(),
                         [&](Term part) { return Mentions(terms, part, candidate[0]); });
    });
    if (!is_elsewhere) return candidate;
  }
  return std::nullopt;
}

}  // namespace

SizeEquations::SizeEquations(Terms& terms, const std::vector<Term>& facts) : terms_(terms) {
  Learn(facts);
}

// Each fact may make more of the others, so until nothing is new.
void SizeEquations::Learn(const std::vector<Term>& facts) {
  constexpr int kMostRounds = 12;
  bool is_new = true;
  for (int i = 0; i < kMostRounds && is_new; ++i) {
    is_new = false;
    for (const Term fact : facts) {
      const TermNode node = terms_[fact];
      if (node.kind == TermNode::kAtMost)
        is_new |= LearnOrder(node.arguments[0], node.arguments[1]);
      if (node.kind == TermNode::kEqual && terms_[node.arguments[0]].sort == Sort::kInt)
        is_new |= LearnEquation(fact);
    }
    for (const auto& [variable, value] : solved_) {
      if (nonzero_.count(variable) == 0) continue;
      const Polynomial polynomial = terms_.PolynomialOf(Simplified(value));
      if (polynomial.size() == 1) is_new |= NoteNonZero(polynomial.begin()->first);
    }
  }
}

bool SizeEquations::LearnOrder(Term low, Term high) {
  const Polynomial polynomial = terms_.PolynomialOf(Simplified(high));
  if (polynomial.size() != 1 || polynomial.begin()->second < 0) return false;
  const Monomial& product = polynomial.begin()->first;
  low = Simplified(low);
  bool is_new = false;
  if (product.size() == 1 && (terms_.IsInteger(low, 0) || IsPositive(low)))
    is_new = natural_.insert(product[0]).second;
  return (IsPositive(low) && NoteNonZero(product)) || is_new;
}

bool SizeEquations::LearnEquation(Term fact) {
  fact = Simplified(fact);
  const TermNode node = terms_[fact];
  if (node.kind != TermNode::kEqual) return false;
  const Polynomial equation =
      terms_.PolynomialOf(terms_.Minus(node.arguments[0], node.arguments[1]));
  if (equation.size() == 2) {
    const Monomial &a = equation.begin()->first, &b = equation.rbegin()->first;
    if ((IsNonZero(a) && NoteNonZero(b)) || (IsNonZero(b) && NoteNonZero(a))) return true;
  }
  const auto variable = VariableToSolveFor(terms_, equation);
  if (!variable) return false;
  Polynomial rest = equation;
  const int64_t sign = -rest[*variable];
  rest.erase(*variable);
  solved_[(*variable)[0]] = terms_.Times(terms_.Integer(sign), terms_.OfPolynomial(rest));
  simplified_.clear();
  return true;
}

bool SizeEquations::NoteNonZero(const Monomial& product) {
  bool is_new = false;
  for (const Term factor : product) is_new |= nonzero_.insert(factor).second;
  if (is_new) simplified_.clear();
  return is_new;
}
bool SizeEquations::IsNonZero(const Monomial& product) const {
  return std::all_of(product.begin(), product.end(),
                     [&](Term factor) { return nonzero_.count(factor) != 0; });
}
bool SizeEquations::IsPositive(Term term) const {
  int64_t constant = 0;
  for (const auto& [product, factor] : terms_.PolynomialOf(term)) {
    if (product.empty()) constant = factor;
    if (factor < 0 || !std::all_of(product.begin(), product.end(),
                                   [&](Term part) { return natural_.count(part) != 0; }))
      return false;
  }
  return constant > 0;
}

void SizeEquations::DivideByCommon(Polynomial* polynomial) const {
  if (polynomial->empty()) return;
  Monomial common = polynomial->begin()->first;
  int64_t divisor = 0;
  for (const auto& [product, factor] : *polynomial) {
    Monomial both;
    std::set_intersection(common.begin(), common.end(), product.begin(), product.end(),
                          std::back_inserter(both));
    common = std::move(both);
    divisor = std::gcd(divisor, factor);
  }
  std::erase_if(common, [&](Term factor) { return nonzero_.count(factor) == 0; });
  Polynomial quotient;
  for (const auto& [product, factor] : *polynomial) {
    Monomial rest;
    std::set_difference(product.begin(), product.end(), common.begin(), common.end(),
                        std::back_inserter(rest));
    quotient[rest] = factor / divisor;
  }
  *polynomial = std::move(quotient);
}

Term SizeEquations::Simplified(Term term) {
  if (const auto known = simplified_.find(term); known != simplified_.end()) return known->second;
  const Term made = Make(term);
  return simplified_[term] = made;
}

Term SizeEquations::Make(Term term) {
  const TermNode node = terms_[term];
  if (node.kind == TermNode::kVariable) {
    const auto solved = solved_.find(term);
    return solved == solved_.end() ? term : Simplified(solved->second);
  }
  if (node.sort == Sort::kInt && node.kind != TermNode::kApply && node.kind != TermNode::kIf)
    return MakeInteger(node, term);
  std::vector<Term> arguments;
  for (const Term argument : node.arguments) arguments.push_back(Simplified(argument));
  switch (node.kind) {
    case TermNode::kEqual: {
      if (terms_[arguments[0]].sort != Sort::kInt) return terms_.Equal(arguments[0], arguments[1]);
      Polynomial difference = terms_.PolynomialOf(terms_.Minus(arguments[0], arguments[1]));
      DivideByCommon(&difference);
      return terms_.Equal(terms_.OfPolynomial(difference), terms_.Integer(0));
    }
    case TermNode::kAtMost:
      return terms_.AtMost(arguments[0], arguments[1]);
    case TermNode::kNot:
      return terms_.Not(arguments[0]);
    case TermNode::kAnd:
      return terms_.And(arguments[0], arguments[1]);
    case TermNode::kIf:
      return terms_.If(arguments[0], arguments[1], arguments[2]);
    case TermNode::kApply:
      return terms_.Apply(node.sort, node.name, std::move(arguments));
    default:
      return term;
  }
}

Term SizeEquations::MakeInteger(const TermNode& node, Term term) {
  if (node.kind == TermNode::kInteger) return term;
  if (node.kind == TermNode::kQuotient)
    return terms_.Quotient(Simplified(node.arguments[0]), Simplified(node.arguments[1]));
  if (node.kind == TermNode::kRemainder)
    return terms_.Remainder(Simplified(node.arguments[0]), Simplified(node.arguments[1]));
  Term sum = terms_.Integer(0);
  for (const auto& [product, factor] : terms_.PolynomialOf(term)) {
    Term part = terms_.Integer(factor);
    for (const Term size : product) part = terms_.Times(part, Simplified(size));
    sum = terms_.Plus(sum, part);
  }
  return sum;
}

}  // namespace weft::passes

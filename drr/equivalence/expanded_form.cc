// Comparing normal forms: as they are, or else with their products multiplied out.
#include <fmt/format.h>

#include <cmath>

#include "drr/equivalence/normal_form.h"

namespace weft::drr::text {

bool NormalForms::Same(const Expression& a, const Expression& b) const {
  if (gave_up_ || a.term != b.term) return false;
  return a.coefficient == b.coefficient ||
         std::abs(a.coefficient - b.coefficient) <= kTolerance * std::abs(b.coefficient);
}

bool NormalForms::Equal(const Expression& a, const Expression& b) {
  return Same(a, b) || (!gave_up_ && Same(Expanded(a), Expanded(b)));
}

std::string NormalForms::WhyNotInFull() const {
  if (gave_up_)
    return fmt::format("more than {} terms, or ops {} deep, are not looked at", kMaxTerms,
                       kMaxDepth);
  if (!too_many_monomials_) return "";
  return fmt::format("products of more than {} monomials are not multiplied out", kMaxMonomials);
}

Expression NormalForms::Expanded(const Expression& expression) {
  auto known = expanded_.find(expression.term);
  if (known == expanded_.end()) {
    const Term term = terms_[expression.term];  // a copy: terms move when there are new ones
    const bool is_whole = term.kind == Term::kOne || term.kind == Term::kLeaf || gave_up_;
    const Expression whole = {1, expression.term};
    known = expanded_.emplace(expression.term, is_whole ? whole : ExpandedTerm(term)).first;
  }
  return {expression.coefficient * known->second.coefficient, known->second.term};
}

Expression NormalForms::ExpandedTerm(const Term& term) {
  if (term.kind == Term::kProduct) return ExpandedProduct(term);
  std::vector<Expression> parts;
  for (const Part& part : term.parts) parts.push_back(Expanded({part.number, part.term}));
  if (term.kind == Term::kSum) {
    parts.push_back({term.constant, Expression::kOne});
    return Sum(parts);
  }
  Term op = term;
  for (size_t i = 0; i < parts.size(); ++i) op.parts[i] = {parts[i].term, parts[i].coefficient};
  return MakeOp(std::move(op));
}

std::vector<Expression> NormalForms::Summands(const Expression& expression) const {
  const Term& term = terms_[expression.term];
  if (term.kind != Term::kSum) return {expression};
  std::vector<Expression> summands;
  for (const Part& part : term.parts)
    summands.push_back({expression.coefficient * part.number, part.term});
  if (term.constant != 0)
    summands.push_back({expression.coefficient * term.constant, Expression::kOne});
  return summands;
}

// Sums are multiplied one after the other, so that monomials that are alike are one from there on:
// (x + y)^20 never has more than 21. A product that would become too long stays one of sums.
Expression NormalForms::ExpandedProduct(const Term& product) {
  Expression rest;
  std::vector<Expression> sums;
  for (const Part& factor : product.parts) {
    const Expression base = Expanded({1, factor.term});
    const bool whole = factor.number >= 1 && factor.number == std::floor(factor.number);
    if (whole && factor.number <= kMaxDepth && terms_[base.term].kind == Term::kSum) {
      sums.insert(sums.end(), static_cast<size_t>(factor.number), base);
    } else {
      rest = Product(rest, Power(base, factor.number));
    }
  }
  Expression expanded = rest;
  for (const Expression& sum : sums) {
    const std::vector<Expression> left = Summands(expanded), right = Summands(sum);
    if (left.size() * right.size() > kMaxMonomials) {
      too_many_monomials_ = true;
      for (const Expression& factor : sums) rest = Product(rest, factor);
      return rest;
    }
    std::vector<Expression> summands;
    for (const Expression& a : left)
      for (const Expression& b : right) summands.push_back(Product(a, b));
    expanded = Sum(summands);
  }
  return expanded;
}

}  // namespace weft::drr::text

#include "passes/verify/proof/term.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::passes {
namespace {

template <class T>
void AddBytes(std::string* text, const T& value) {
  text->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Term Terms::Intern(TermNode node) {
  std::string text;
  AddBytes(&text, node.kind);
  AddBytes(&text, node.sort);
  AddBytes(&text, node.integer);
  AddBytes(&text, std::bit_cast<uint64_t>(node.number));  // zeros have a sign
  for (const Term argument : node.arguments) AddBytes(&text, argument.id);
  text += '/';
  for (const int64_t factor : node.factors) AddBytes(&text, factor);
  text += node.name;
  const auto [at, is_new] = by_text_.try_emplace(std::move(text));
  if (is_new) {
    at->second = Term{static_cast<uint32_t>(nodes_.size())};
    const bool divides = node.kind == TermNode::kQuotient || node.kind == TermNode::kRemainder;
    node.is_linear = node.kind != TermNode::kProduct &&
                     !(divides && (*this)[node.arguments[1]].kind != TermNode::kInteger) &&
                     std::all_of(node.arguments.begin(), node.arguments.end(),
                                 [&](Term argument) { return (*this)[argument].is_linear; });
    nodes_.push_back(std::move(node));
  }
  return at->second;
}

Term Terms::Integer(int64_t value) {
  return Intern({.kind = TermNode::kInteger, .sort = Sort::kInt, .integer = value});
}
Term Terms::Bool(bool value) {
  return Intern({.kind = TermNode::kInteger, .sort = Sort::kBool, .integer = value});
}
Term Terms::Number(double value) {
  return Intern({.kind = TermNode::kNumber, .sort = Sort::kElement, .number = value});
}
Term Terms::Variable(Sort sort, const std::string& name) {
  return Intern({.kind = TermNode::kVariable, .sort = sort, .name = name});
}
Term Terms::Apply(Sort sort, const std::string& name, std::vector<Term> arguments) {
  return Intern(
      {.kind = TermNode::kApply, .sort = sort, .name = name, .arguments = std::move(arguments)});
}
Term Terms::Unknown() { return Variable(Sort::kInt, "?" + std::to_string(nodes_.size())); }

bool Terms::IsInteger(Term term, int64_t value) const {
  const TermNode& node = (*this)[term];
  return node.kind == TermNode::kInteger && node.sort == Sort::kInt && node.integer == value;
}
bool Terms::IsTrue(Term term) const {
  const TermNode& node = (*this)[term];
  return node.kind == TermNode::kInteger && node.sort == Sort::kBool && node.integer != 0;
}
bool Terms::IsFalse(Term term) const {
  const TermNode& node = (*this)[term];
  return node.kind == TermNode::kInteger && node.sort == Sort::kBool && node.integer == 0;
}

Terms::Polynomial Terms::PolynomialOf(Term term) const {
  const TermNode& node = (*this)[term];
  const auto monomial = [&](Term part) {
    const TermNode& n = (*this)[part];
    return n.kind == TermNode::kProduct ? n.arguments : Monomial{part};
  };
  switch (node.kind) {
    case TermNode::kInteger:
      return node.integer == 0 ? Polynomial() : Polynomial{{{}, node.integer}};
    case TermNode::kSum: {
      Polynomial sum;
      if (node.integer != 0) sum[{}] = node.integer;
      for (size_t i = 0; i < node.arguments.size(); ++i)
        sum[monomial(node.arguments[i])] = node.factors[i];
      return sum;
    }
    default:
      return {{monomial(term), 1}};
  }
}

Term Terms::OfPolynomial(const Polynomial& polynomial) {
  TermNode sum{.kind = TermNode::kSum, .sort = Sort::kInt};
  for (const auto& [monomial, factor] : polynomial) {
    if (factor == 0) continue;
    if (monomial.empty()) {
      sum.integer = factor;
      continue;
    }
    sum.arguments.push_back(monomial.size() == 1
                                ? monomial[0]
                                : Intern({.kind = TermNode::kProduct, .arguments = monomial}));
    sum.factors.push_back(factor);
  }
  if (sum.arguments.empty()) return Integer(sum.integer);
  if (sum.arguments.size() == 1 && sum.factors[0] == 1 && sum.integer == 0) return sum.arguments[0];
  return Intern(std::move(sum));
}

Term Terms::Plus(Term a, Term b) {
  Polynomial sum = PolynomialOf(a);
  for (const auto& [monomial, factor] : PolynomialOf(b)) {
    int64_t& total = sum[monomial];
    if (__builtin_add_overflow(total, factor, &total)) return Unknown();
  }
  return OfPolynomial(sum);
}
Term Terms::Minus(Term a, Term b) { return Plus(a, Times(Integer(-1), b)); }

Term Terms::Times(Term a, Term b) {
  Polynomial product;
  const Polynomial other = PolynomialOf(b);
  for (const auto& [x, x_factor] : PolynomialOf(a)) {
    for (const auto& [y, y_factor] : other) {
      Monomial both = x;
      both.insert(both.end(), y.begin(), y.end());
      std::sort(both.begin(), both.end());
      int64_t factor = 0;
      int64_t& total = product[both];
      if (__builtin_mul_overflow(x_factor, y_factor, &factor) ||
          __builtin_add_overflow(total, factor, &total))
        return Unknown();
    }
  }
  return OfPolynomial(product);
}

Term Terms::Product(const std::vector<Term>& factors) {
  Term product = Integer(1);
  for (const Term factor : factors) product = Times(product, factor);
  return product;
}

Term Terms::Quotient(Term a, Term b) {
  if (IsInteger(b, 1)) return a;
  return Intern({.kind = TermNode::kQuotient, .arguments = {a, b}});
}
Term Terms::Remainder(Term a, Term b) {
  if (IsInteger(b, 1)) return Integer(0);
  return Intern({.kind = TermNode::kRemainder, .arguments = {a, b}});
}

Term Terms::Equal(Term a, Term b) {
  if (a == b) return Bool(true);
  if ((*this)[a].sort == Sort::kInt) {
    const Term difference = Minus(a, b);
    const TermNode& node = (*this)[difference];
    if (node.kind == TermNode::kInteger) return Bool(node.integer == 0);
  }
  if (b < a) std::swap(a, b);
  return Intern({.kind = TermNode::kEqual, .sort = Sort::kBool, .arguments = {a, b}});
}
Term Terms::AtMost(Term a, Term b) {
  const TermNode& node = (*this)[Minus(a, b)];
  if (node.kind == TermNode::kInteger) return Bool(node.integer <= 0);
  return Intern({.kind = TermNode::kAtMost, .sort = Sort::kBool, .arguments = {a, b}});
}
Term Terms::Not(Term a) {
  if (IsTrue(a) || IsFalse(a)) return Bool(IsFalse(a));
  if ((*this)[a].kind == TermNode::kNot) return (*this)[a].arguments[0];
  return Intern({.kind = TermNode::kNot, .sort = Sort::kBool, .arguments = {a}});
}
Term Terms::And(Term a, Term b) {
  if (IsFalse(a) || IsTrue(b) || a == b) return a;
  if (IsFalse(b) || IsTrue(a)) return b;
  return Intern({.kind = TermNode::kAnd, .sort = Sort::kBool, .arguments = {a, b}});
}
Term Terms::Or(Term a, Term b) { return Not(And(Not(a), Not(b))); }
Term Terms::If(Term condition, Term yes, Term no) {
  if (IsTrue(condition) || yes == no) return yes;
  if (IsFalse(condition)) return no;
  return Intern(
      {.kind = TermNode::kIf, .sort = (*this)[yes].sort, .arguments = {condition, yes, no}});
}

}  // namespace weft::passes

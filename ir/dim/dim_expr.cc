#include "ir/dim/dim_expr.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_map>

#include "ir/dim/dim_atom.h"
#include "ir/name.h"

namespace weft::ir {
namespace {

using Term = DimExpr::Term;

// Longest first, then by the names of atoms, so that the order is the same in every process. Also an
// order of monomials in the sense of polynomial division.
bool Before(const Term& a, const Term& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size();
  for (size_t i = 0; i < a.atoms.size(); ++i)
    if (a.atoms[i] != b.atoms[i]) return a.atoms[i]->text < b.atoms[i]->text;
  return false;
}

bool AtomBefore(const DimAtom* a, const DimAtom* b) { return a->text < b->text; }

// The quotient of two monomials; false when b does not divide a.
bool Divide(const Term& a, const Term& b, Term* quotient) {
  if (b.factor == 0 || a.factor % b.factor != 0) return false;
  if (a.factor == INT64_MIN && b.factor == -1) return false;
  quotient->factor = a.factor / b.factor;
  quotient->atoms.clear();
  std::set_difference(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                      std::back_inserter(quotient->atoms), AtomBefore);
  return quotient->atoms.size() + b.atoms.size() == a.atoms.size();
}

// a / b when b divides a as a polynomial; else unknown.
DimExpr ExactQuotient(DimExpr a, const DimExpr& b) {
  DimExpr quotient = 0;
  for (int steps = 0; a.known() && steps < DimExpr::kMaxWeight; ++steps) {
    if (a.number() == 0) return quotient;
    Term term;
    if (b.number() == 0 || !Divide(a.terms().front(), b.terms().front(), &term)) return {};
    const DimExpr part = DimExpr::Sum({term});
    quotient = quotient + part;
    a = a - part * b;
  }
  return {};
}

// The greatest monomial that divides all terms and is not negative, from atoms that are not either.
Term CommonFactor(const DimExpr& a, const DimExpr& b) {
  Term common{.factor = 0, .atoms = {}};
  bool first = true;
  for (const DimExpr* e : {&a, &b}) {
    for (const Term& term : e->terms()) {
      if (term.factor == INT64_MIN) return {.factor = 1, .atoms = {}};
      common.factor = std::gcd(common.factor, term.factor);
      std::vector<const DimAtom*> shared;
      if (first) {
        for (const DimAtom* atom : term.atoms)
          if (atom->low && *atom->low >= 0) shared.push_back(atom);
      } else {
        std::set_intersection(common.atoms.begin(), common.atoms.end(), term.atoms.begin(),
                              term.atoms.end(), std::back_inserter(shared), AtomBefore);
      }
      common.atoms = std::move(shared);
      first = false;
    }
  }
  return common;
}

// The terms and the constant of an expression apart.
int64_t ConstantOf(const DimExpr& e) {
  return !e.terms().empty() && e.terms().back().atoms.empty() ? e.terms().back().factor : 0;
}

DimExpr DivideByNumber(const DimExpr& a, int64_t c) {
  if (c <= 0) return {};
  if (c == 1) return a;
  // What c divides comes out; factors left are 0..c-1.
  std::vector<Term> whole, rest;
  int64_t common = c;
  for (const Term& term : a.terms()) {
    const int64_t quotient = FloorQuotient(term.factor, c), left = term.factor - quotient * c;
    if (quotient != 0) whole.push_back({quotient, term.atoms});
    if (left != 0) rest.push_back({left, term.atoms});
    if (!term.atoms.empty()) common = std::gcd(common, left);
  }
  const DimExpr quotient = DimExpr::Sum(whole), remainder = DimExpr::Sum(rest);
  const auto [low, high] = BoundsOf(remainder);
  if (!remainder.known() || remainder.number() || (low && *low >= 0 && high && *high < c))
    return remainder.known() ? quotient : DimExpr();
  if (common > 1) {
    for (Term& term : rest) term.factor = FloorQuotient(term.factor, common);
    return quotient + DivideByNumber(DimExpr::Sum(rest), c / common);
  }
  // floor((floor(x / d) + k) / c) = floor((x + k d) / (c d))
  const int64_t constant = ConstantOf(remainder);
  const Term& first = remainder.terms().front();
  if (remainder.terms().size() == (constant == 0 ? 1 : 2) && first.factor == 1 &&
      first.atoms.size() == 1 && first.atoms[0]->kind == DimAtom::kFloorDiv) {
    const DimAtom& inner = *first.atoms[0];
    const DimExpr divisor = inner.operands[1] * c;
    if (inner.operands[1].number() && divisor.known())
      return quotient + FloorDiv(inner.operands[0] + inner.operands[1] * constant, divisor);
  }
  return quotient + ExprOf(FindOrAddAtom(DimAtom::kFloorDiv, {remainder, c}));
}

// --- minima and maxima ----------------------------------------------------------------------------

// Operands of a minimum of minima are its own: min(2 min(a, b) + r, c) = min(2 a + r, 2 b + r, c).
bool Flatten(DimAtom::Kind kind, const DimExpr& e, std::vector<DimExpr>* operands) {
  if (!e.known() || operands->size() > DimExpr::kMaxOperands) return false;
  for (const Term& term : e.terms()) {
    if (term.factor < 0 || term.atoms.size() != 1 || term.atoms[0]->kind != kind) continue;
    const DimExpr rest = e - ExprOf(term.atoms[0]) * term.factor;
    for (const DimExpr& operand : term.atoms[0]->operands)
      if (!Flatten(kind, operand * term.factor + rest, operands)) return false;
    return true;
  }
  operands->push_back(e);
  return true;
}

void SortAndDropDominated(bool is_max, std::vector<DimExpr>* operands) {
  std::sort(operands->begin(), operands->end(),
            [](const DimExpr& x, const DimExpr& y) { return x.ToString() < y.ToString(); });
  for (size_t i = 0; i < operands->size();) {
    const DimExpr a = (*operands)[i];
    bool dominated = false;
    for (size_t j = 0; j < operands->size() && !dominated; ++j) {
      const DimExpr& b = (*operands)[j];
      dominated = j != i && (is_max ? b - a : a - b).IsAtLeast(0);
    }
    if (dominated) {
      operands->erase(operands->begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// Terms that all operands have, and the least of their constants.
DimExpr CommonTerms(const std::vector<DimExpr>& operands) {
  std::vector<Term> common;
  for (const Term& term : operands[0].terms()) {
    const bool in_all =
        !term.atoms.empty() && std::all_of(operands.begin(), operands.end(), [&](const auto& e) {
          return std::find(e.terms().begin(), e.terms().end(), term) != e.terms().end();
        });
    if (in_all) common.push_back(term);
  }
  int64_t constant = INT64_MAX;
  for (const DimExpr& e : operands) constant = std::min(constant, ConstantOf(e));
  common.push_back({constant, {}});
  return DimExpr::Sum(common);
}

// Makes e of all operands (e - shift) / scale; false when one is unknown.
bool TakeOutCommon(std::vector<DimExpr>* operands, DimExpr* shift, int64_t* scale) {
  *shift = CommonTerms(*operands);
  int64_t divisor = 0;
  for (DimExpr& e : *operands) {
    e = e - *shift;
    if (!e.known()) return false;
    for (const Term& term : e.terms()) {
      if (term.factor == INT64_MIN) return false;
      divisor = std::gcd(divisor, term.factor);
    }
  }
  *scale = std::max<int64_t>(divisor, 1);
  for (DimExpr& e : *operands) e = FloorDiv(e, *scale);
  return true;
}

DimExpr Extremum(DimAtom::Kind kind, std::span<const DimExpr> values) {
  std::vector<DimExpr> operands;
  for (const DimExpr& value : values)
    if (!Flatten(kind, value, &operands)) return {};
  if (operands.empty()) return {};
  DimExpr shift = 0, scale = 1;  // of the result
  for (;;) {
    DimExpr more_shift;
    int64_t more_scale = 1;
    if (!TakeOutCommon(&operands, &more_shift, &more_scale)) return {};
    shift = shift + scale * more_shift;
    scale = scale * more_scale;
    const size_t count = operands.size();
    SortAndDropDominated(kind == DimAtom::kMax, &operands);
    if (operands.size() == 1) return shift + scale * operands[0];
    if (operands.size() == count) break;
  }
  if (operands.size() > DimExpr::kMaxOperands) return {};
  return shift + scale * ExprOf(FindOrAddAtom(kind, std::move(operands)));
}

// --- expressions that are dimensions --------------------------------------------------------------

struct ExpressionTable {
  std::shared_mutex mutex;
  std::unordered_map<int64_t, DimExpr> of_dim;
};
ExpressionTable& Expressions() {
  static auto* table = new ExpressionTable;  // as Names are: never freed
  return *table;
}

int64_t DimOfName(std::string_view text) { return -2 - static_cast<int64_t>(Name(text).id()); }

}  // namespace

DimExpr::DimExpr(int64_t number) : known_(true), weight_(number != 0) {
  if (number != 0) terms_.push_back({number, {}});
}

DimExpr DimExpr::Sum(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), Before);
  DimExpr sum = 0;
  for (Term& term : terms) {
    if (sum.terms_.empty() || sum.terms_.back().atoms != term.atoms) {
      if (!sum.terms_.empty() && sum.terms_.back().factor == 0) sum.terms_.pop_back();
      sum.terms_.push_back(std::move(term));
    } else if (__builtin_add_overflow(sum.terms_.back().factor, term.factor,
                                      &sum.terms_.back().factor)) {
      return {};
    }
  }
  if (!sum.terms_.empty() && sum.terms_.back().factor == 0) sum.terms_.pop_back();
  for (const Term& term : sum.terms_) {
    ++sum.weight_;
    for (const DimAtom* atom : term.atoms) sum.weight_ += atom->weight;
    if (sum.weight_ > kMaxWeight) return {};
  }
  return sum;
}

std::optional<int64_t> DimExpr::number() const {
  if (!known_ || terms_.size() > 1) return std::nullopt;
  if (terms_.empty()) return 0;
  return terms_[0].atoms.empty() ? std::optional(terms_[0].factor) : std::nullopt;
}

DimExpr DimExpr::OfDim(int64_t dim) {
  if (IsStaticDim(dim)) return dim;
  if (dim == kUnknownDim) return {};
  {
    ExpressionTable& table = Expressions();
    std::shared_lock lock(table.mutex);
    if (const auto it = table.of_dim.find(dim); it != table.of_dim.end()) return it->second;
  }
  return ExprOf(FindOrAddSymbol(dim));
}

int64_t DimExpr::ToDim() const {
  if (!known_) return kUnknownDim;
  if (const auto value = number()) return std::max(*value, kUnknownDim);
  const Term& first = terms_[0];
  if (terms_.size() == 1 && first.factor == 1 && first.atoms.size() == 1 &&
      first.atoms[0]->kind == DimAtom::kSymbol)
    return first.atoms[0]->symbol;
  const std::string text = ToString();
  if (text.size() > kMaxText) return kUnknownDim;
  const int64_t dim = DimOfName(text);
  ExpressionTable& table = Expressions();
  {
    std::shared_lock lock(table.mutex);
    if (table.of_dim.count(dim)) return dim;
  }
  std::unique_lock lock(table.mutex);
  table.of_dim.emplace(dim, *this);
  return dim;
}

bool IsExpressionDim(int64_t dim) {
  if (!IsSymbolicDim(dim)) return false;
  ExpressionTable& table = Expressions();
  std::shared_lock lock(table.mutex);
  return table.of_dim.count(dim) > 0;
}

DimExpr DimExpr::Substitute(std::span<const DimBinding> sizes) const {
  if (!known_) return {};
  DimExpr sum = 0;
  for (const Term& term : terms_) {
    DimExpr product = term.factor;
    for (const DimAtom* atom : term.atoms) product = product * SubstituteAtom(*atom, sizes);
    sum = sum + product;
  }
  return sum;
}

void DimExpr::CollectSymbols(std::vector<int64_t>* symbols) const {
  for (const Term& term : terms_) {
    for (const DimAtom* atom : term.atoms) {
      for (const DimExpr& operand : atom->operands) operand.CollectSymbols(symbols);
      if (atom->kind != DimAtom::kSymbol) continue;
      if (std::find(symbols->begin(), symbols->end(), atom->symbol) == symbols->end())
        symbols->push_back(atom->symbol);
    }
  }
}

DimExpr operator+(const DimExpr& a, const DimExpr& b) {
  if (!a.known() || !b.known()) return {};
  std::vector<Term> terms(a.terms().begin(), a.terms().end());
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  return DimExpr::Sum(std::move(terms));
}

DimExpr operator-(const DimExpr& a, const DimExpr& b) { return a + b * -1; }

DimExpr operator*(const DimExpr& a, const DimExpr& b) {
  if (!a.known() || !b.known()) return {};
  std::vector<Term> terms;
  for (const Term& x : a.terms()) {
    for (const Term& y : b.terms()) {
      Term& term = terms.emplace_back();
      if (__builtin_mul_overflow(x.factor, y.factor, &term.factor)) return {};
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 std::back_inserter(term.atoms), AtomBefore);
    }
  }
  return DimExpr::Sum(std::move(terms));
}

DimExpr FloorDiv(const DimExpr& a, const DimExpr& b) {
  if (!a.known() || !b.known()) return {};
  if (const auto number = b.number()) return DivideByNumber(a, *number);
  if (DimExpr quotient = ExactQuotient(a, b); quotient.known()) return quotient;
  const Term common = CommonFactor(a, b);
  if (common.factor == 1 && common.atoms.empty())
    return ExprOf(FindOrAddAtom(DimAtom::kFloorDiv, {a, b}));
  const DimExpr factor = DimExpr::Sum({common});
  return FloorDiv(ExactQuotient(a, factor), ExactQuotient(b, factor));
}

DimExpr CeilDiv(const DimExpr& a, const DimExpr& b) { return FloorDiv(a + b - 1, b); }
DimExpr Min(std::span<const DimExpr> values) { return Extremum(DimAtom::kMin, values); }
DimExpr Max(std::span<const DimExpr> values) { return Extremum(DimAtom::kMax, values); }

int64_t SubstituteDim(int64_t dim, std::span<const DimBinding> sizes) {
  if (!IsSymbolicDim(dim)) return dim;
  for (const DimBinding& binding : sizes)
    if (binding.symbol == dim) return binding.size;
  return IsExpressionDim(dim) ? DimExpr::OfDim(dim).Substitute(sizes).ToDim() : dim;
}

}  // namespace weft::ir

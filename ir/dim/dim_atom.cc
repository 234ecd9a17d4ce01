#include "ir/dim/dim_atom.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace weft::ir {
namespace {

using Term = DimExpr::Term;
using Bound = std::optional<int64_t>;

// --- bounds -----------------------------------------------------------------------------------------

Bound Multiply(Bound a, Bound b) {
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

Bound Add(Bound a, Bound b) {
  int64_t sum;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

std::pair<Bound, Bound> BoundsOfTerm(const Term& term) {
  Bound low = 1, high = 1;  // of the product, from factors that are not negative
  for (const DimAtom* atom : term.atoms) {
    if (term.atoms.size() > 1 && !(atom->low && *atom->low >= 0))
      return {std::nullopt, std::nullopt};
    low = Multiply(low, atom->low);
    high = Multiply(high, atom->high);
  }
  if (term.factor < 0) std::swap(low, high);
  return {Multiply(low, term.factor), Multiply(high, term.factor)};
}

void SetBounds(DimAtom* atom) {
  if (atom->kind == DimAtom::kSymbol) {
    atom->low = 0;
    return;
  }
  if (atom->kind == DimAtom::kFloorDiv) {
    const auto [low, high] = BoundsOf(atom->operands[0]);
    const auto divisor = atom->operands[1].number();
    if (low && divisor) atom->low = FloorQuotient(*low, *divisor);
    if (low && !divisor) atom->low = *low >= 0 ? 0 : *low;
    if (high && divisor) atom->high = FloorQuotient(*high, *divisor);
    if (high && !divisor) atom->high = *high >= 0 ? *high : -1;
    return;
  }
  const bool is_max = atom->kind == DimAtom::kMax;
  bool first = true;
  for (const DimExpr& operand : atom->operands) {
    const auto [low, high] = BoundsOf(operand);
    // The largest lower bound that there is, but an upper bound only when all have one.
    const auto best = [&](Bound a, Bound b) -> Bound {
      return !a ? b : !b ? a : is_max ? std::max(a, b) : std::min(a, b);
    };
    const auto every = [&](Bound a, Bound b) -> Bound {
      return first ? b : !a || !b ? std::nullopt : is_max ? std::max(a, b) : std::min(a, b);
    };
    (is_max ? atom->low : atom->high) = best(is_max ? atom->low : atom->high, is_max ? low : high);
    (is_max ? atom->high : atom->low) = every(is_max ? atom->high : atom->low, is_max ? high : low);
    first = false;
  }
}

// --- text -------------------------------------------------------------------------------------------

bool IsPlainName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
}

std::string SymbolText(std::string_view name) {
  if (IsPlainName(name)) return std::string(name);
  std::string text = "'";
  for (const char c : name) {
    if (c == '\'') text += c;
    text += c;
  }
  return text + "'";
}

// An operand of a division, in parentheses unless it is one symbol or a number that is not negative.
std::string OperandText(const DimExpr& e) {
  const auto number = e.number();
  const bool bare = number ? *number >= 0
                           : e.terms().size() == 1 && e.terms()[0].factor == 1 &&
                                 e.terms()[0].atoms.size() == 1 &&
                                 e.terms()[0].atoms[0]->kind != DimAtom::kFloorDiv;
  return bare ? e.ToString() : "(" + e.ToString() + ")";
}

std::string TextOf(const DimAtom& atom) {
  if (atom.kind == DimAtom::kSymbol) return SymbolText(SymbolName(atom.symbol));
  if (atom.kind == DimAtom::kFloorDiv)
    return OperandText(atom.operands[0]) + "//" + OperandText(atom.operands[1]);
  std::string text = atom.kind == DimAtom::kMax ? "max(" : "min(";
  for (size_t i = 0; i < atom.operands.size(); ++i)
    text += (i ? ", " : "") + atom.operands[i].ToString();
  return text + ")";
}

std::string TextOf(const Term& term) {  // its sign left out
  const auto factor = term.factor < 0 ? uint64_t{0} - static_cast<uint64_t>(term.factor)
                                      : static_cast<uint64_t>(term.factor);
  std::string text = term.atoms.empty() || factor != 1 ? fmt::format("{}", factor) : "";
  for (const DimAtom* atom : term.atoms) {
    const bool inside = !text.empty() || term.atoms.size() > 1;
    if (!text.empty()) text += '*';
    text += inside && atom->kind == DimAtom::kFloorDiv ? "(" + atom->text + ")" : atom->text;
  }
  return text;
}

// A quotient behind a sign in parentheses: Python would divide what the sign is before.
std::string NegatedTextOf(const Term& term) {
  const bool is_quotient =
      term.factor == -1 && term.atoms.size() == 1 && term.atoms[0]->kind == DimAtom::kFloorDiv;
  return is_quotient ? "-(" + TextOf(term) + ")" : "-" + TextOf(term);
}

// --- the table --------------------------------------------------------------------------------------

class AtomTable {
 public:
  const DimAtom* FindOrAdd(DimAtom atom) {
    atom.text = TextOf(atom);
    if (atom.text.size() > DimExpr::kMaxText) return nullptr;
    {
      std::shared_lock lock(mutex_);
      if (const auto it = by_text_.find(atom.text); it != by_text_.end()) return it->second;
    }
    SetBounds(&atom);
    for (const DimExpr& operand : atom.operands) atom.weight += operand.weight();
    if (atom.weight > DimExpr::kMaxWeight) return nullptr;
    std::unique_lock lock(mutex_);
    if (const auto it = by_text_.find(atom.text); it != by_text_.end()) return it->second;
    atoms_.push_back(std::move(atom));
    by_text_.emplace(atoms_.back().text, &atoms_.back());
    return &atoms_.back();
  }

 private:
  std::shared_mutex mutex_;
  std::deque<DimAtom> atoms_;
  std::unordered_map<std::string_view, const DimAtom*> by_text_;
};

AtomTable& Atoms() {
  static auto* table = new AtomTable;
  return *table;
}

// --- proofs -----------------------------------------------------------------------------------------

// Looks for a proof that e >= least: by bounds of its terms, or of those of expressions below e that
// are made by taking an atom's bound in its place.
class LeastProver {
 public:
  bool Prove(const DimExpr& e, int64_t least, int depth) {
    if (!e.known() || ++steps_ > kMaxSteps) return false;
    if (const Bound low = BoundsOf(e).first; low && *low >= least) return true;
    if (depth == 0) return false;
    for (const Term& term : e.terms()) {
      if (term.atoms.size() != 1 || term.atoms[0]->kind == DimAtom::kSymbol) continue;
      const DimExpr rest = e - ExprOf(term.atoms[0]) * term.factor;
      const bool proved = term.atoms[0]->kind == DimAtom::kFloorDiv
                              ? ProveDivision(rest, term.factor, *term.atoms[0], least, depth - 1)
                              : ProveExtremum(rest, term.factor, *term.atoms[0], least, depth - 1);
      if (proved) return true;
    }
    return false;
  }

 private:
  // rest + factor floor(x / c) >= least. Times c, (x - c + 1) <= c floor(x / c) <= x; integers are at
  // least n when they are above n - 1.
  bool ProveDivision(const DimExpr& rest, int64_t factor, const DimAtom& atom, int64_t least,
                     int depth) {
    const auto c = atom.operands[1].number();
    if (!c) return false;
    const DimExpr x = factor > 0 ? atom.operands[0] - *c + 1 : atom.operands[0];
    const auto bound = (DimExpr(least) - 1) * *c + 1;
    return bound.number() && Prove(rest * *c + x * factor, *bound.number(), depth);
  }

  // A maximum is at least each of its operands, and with a negative factor at most one of them.
  bool ProveExtremum(const DimExpr& rest, int64_t factor, const DimAtom& atom, int64_t least,
                     int depth) {
    const auto prove = [&](const DimExpr& x) { return Prove(rest + x * factor, least, depth); };
    const auto first = atom.operands.begin(), last = atom.operands.end();
    return (atom.kind == DimAtom::kMax) == (factor > 0) ? std::any_of(first, last, prove)
                                                        : std::all_of(first, last, prove);
  }

  static constexpr int kMaxSteps = 64;
  int steps_ = 0;
};

}  // namespace

const DimAtom* FindOrAddSymbol(int64_t symbol) {
  return Atoms().FindOrAdd({.kind = DimAtom::kSymbol, .symbol = symbol, .operands = {}});
}

const DimAtom* FindOrAddAtom(DimAtom::Kind kind, std::vector<DimExpr> operands) {
  return Atoms().FindOrAdd({.kind = kind, .operands = std::move(operands)});
}

DimExpr ExprOf(const DimAtom* atom) { return atom ? DimExpr::Sum({{1, {atom}}}) : DimExpr(); }

DimExpr SubstituteAtom(const DimAtom& atom, std::span<const DimBinding> sizes) {
  if (atom.kind == DimAtom::kSymbol) {
    for (const DimBinding& binding : sizes)
      if (binding.symbol == atom.symbol) return binding.size;
    return ExprOf(&atom);
  }
  std::vector<DimExpr> operands;
  for (const DimExpr& operand : atom.operands) operands.push_back(operand.Substitute(sizes));
  if (atom.kind == DimAtom::kFloorDiv) return FloorDiv(operands[0], operands[1]);
  return atom.kind == DimAtom::kMax ? Max(operands) : Min(operands);
}

std::pair<Bound, Bound> BoundsOf(const DimExpr& e) {
  if (!e.known()) return {std::nullopt, std::nullopt};
  Bound low = 0, high = 0;
  for (const Term& term : e.terms()) {
    const auto [term_low, term_high] = BoundsOfTerm(term);
    low = Add(low, term_low);
    high = Add(high, term_high);
  }
  return {low, high};
}

bool DimExpr::IsAtLeast(int64_t least) const { return LeastProver().Prove(*this, least, 4); }

std::string DimExpr::ToString() const {
  if (!known_) return "?";
  if (terms_.empty()) return "0";
  std::string text;
  for (const Term& term : terms_) {
    if (text.empty()) {
      text = term.factor < 0 ? NegatedTextOf(term) : TextOf(term);
    } else {
      text += (term.factor < 0 ? " - " : " + ") + TextOf(term);
    }
  }
  return text;
}

}  // namespace weft::ir

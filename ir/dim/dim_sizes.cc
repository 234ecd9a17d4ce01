#include "ir/dim/dim_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dim/dim_atom.h"

namespace weft::ir {
namespace {

std::string Differs(int64_t dim, int64_t known, int64_t size) {
  return fmt::format("{} is {}, not {}", SymbolName(dim), known, size);
}

struct Linear {  // factor * symbol + constant
  int64_t symbol = 0, factor = 0, constant = 0;
};

std::optional<Linear> AsLinear(const DimExpr& e) {
  Linear linear;
  for (const DimExpr::Term& term : e.terms()) {
    if (term.atoms.empty()) {
      linear.constant = term.factor;
    } else if (term.atoms.size() == 1 && term.atoms[0]->kind == DimAtom::kSymbol &&
               linear.factor == 0) {
      linear.symbol = term.atoms[0]->symbol;
      linear.factor = term.factor;
    } else {
      return std::nullopt;
    }
  }
  return linear.factor != 0 ? std::optional(linear) : std::nullopt;
}

}  // namespace

bool DimSizes::Add(int64_t dim, int64_t size, std::string* error) {
  if (IsStaticDim(dim)) {
    if (dim == size) return true;
    *error = fmt::format("{} is not {}", size, dim);
    return false;
  }
  if (!IsSymbolicDim(dim)) return true;
  if (!Bind(dim, size, error)) return false;
  if (IsExpressionDim(dim)) open_.push_back({dim, size});
  for (size_t i = 0; i < open_.size();) {
    bool solved = false;
    const size_t known = bindings_.size();
    if (!Settle(open_[i], &solved, error)) return false;
    if (!solved) {
      ++i;
      continue;
    }
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    if (bindings_.size() != known) i = 0;
  }
  return true;
}

bool DimSizes::Bind(int64_t dim, int64_t size, std::string* error) {
  for (const DimBinding& binding : bindings_) {
    if (binding.symbol != dim) continue;
    if (binding.size != size) *error = Differs(dim, binding.size, size);
    return binding.size == size;
  }
  bindings_.push_back({dim, size});
  return true;
}

// What follows from an expression, with what is known of its symbols.
bool DimSizes::Settle(const DimBinding& equation, bool* solved, std::string* error) {
  const DimExpr e = DimExpr::OfDim(equation.symbol).Substitute(bindings_);
  *solved = true;
  if (!e.known()) {
    *error = fmt::format("{} has no value where {}", SymbolName(equation.symbol), ToString());
    return false;
  }
  if (const std::optional<int64_t> number = e.number()) {
    if (*number != equation.size) *error = Differs(equation.symbol, *number, equation.size);
    return *number == equation.size;
  }
  const std::optional<Linear> linear = AsLinear(e);
  if (!linear) {
    *solved = false;
    return true;
  }
  int64_t rest = 0;
  const bool fits = !__builtin_sub_overflow(equation.size, linear->constant, &rest);
  if (!fits || rest % linear->factor != 0 || rest / linear->factor < 0) {
    *error = fmt::format("{} is {} for no size of {}", SymbolName(equation.symbol), equation.size,
                         SymbolName(linear->symbol));
    return false;
  }
  return Bind(linear->symbol, rest / linear->factor, error);
}

std::string DimSizes::ToString() const {
  std::string text;
  for (const DimBinding& binding : bindings_)
    if (!IsExpressionDim(binding.symbol))
      text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", SymbolName(binding.symbol),
                          binding.size);
  return text;
}

}  // namespace weft::ir

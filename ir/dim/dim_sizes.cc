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
  for (; followed_ < bindings_.size(); ++followed_) {
    const DimBinding binding = bindings_[followed_];
    if (!IsExpressionDim(binding.symbol)) {
      for (const DimBinding& equation : readers_[binding.symbol])
        if (!Settle(equation, error)) return false;
      continue;
    }
    std::vector<int64_t> symbols;
    DimExpr::OfDim(binding.symbol).CollectSymbols(&symbols);
    for (const int64_t symbol : symbols) readers_[symbol].push_back(binding);
    if (!Settle(binding, error)) return false;
  }
  return true;
}

int64_t DimSizes::SizeOf(int64_t dim) const {
  if (const auto known = sizes_.find(dim); known != sizes_.end()) return known->second;
  if (!IsExpressionDim(dim)) return dim;
  const DimExpr e = DimExpr::OfDim(dim);
  return e.Substitute(KnownIn(e)).ToDim();
}

bool DimSizes::Bind(int64_t dim, int64_t size, std::string* error) {
  const auto [known, is_new] = sizes_.emplace(dim, size);
  if (is_new) bindings_.push_back({dim, size});
  if (known->second != size) *error = Differs(dim, known->second, size);
  return known->second == size;
}

// The symbols of an expression whose sizes are known.
std::vector<DimBinding> DimSizes::KnownIn(const DimExpr& e) const {
  std::vector<int64_t> symbols;
  e.CollectSymbols(&symbols);
  std::vector<DimBinding> known;
  for (const int64_t symbol : symbols)
    if (const auto size = sizes_.find(symbol); size != sizes_.end())
      known.push_back({symbol, size->second});
  return known;
}

// What follows from an expression, with what is known of its symbols.
bool DimSizes::Settle(const DimBinding& equation, std::string* error) {
  const DimExpr whole = DimExpr::OfDim(equation.symbol), e = whole.Substitute(KnownIn(whole));
  if (!e.known()) {
    *error = fmt::format("{} has no value where {}", SymbolName(equation.symbol), ToString());
    return false;
  }
  if (const std::optional<int64_t> number = e.number()) {
    if (*number != equation.size) *error = Differs(equation.symbol, *number, equation.size);
    return *number == equation.size;
  }
  const std::optional<Linear> linear = AsLinear(e);
  if (!linear) return true;
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

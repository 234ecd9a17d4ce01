// The atoms of DimExpr: what products of an expression are made of. For ir/dim only. Atoms are
// interned by their text for the whole process and never freed, as Names are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/dim/dim_expr.h"

namespace weft::ir {

struct DimAtom {
  enum Kind : uint8_t { kSymbol, kFloorDiv, kMin, kMax };
  Kind kind = kSymbol;
  int64_t symbol = 0;             // the dimension
  std::vector<DimExpr> operands;  // of the others
  std::string text{};
  int weight = 1;
  std::optional<int64_t> low{}, high{};  // bounds of its value, where there are any
};

// Null when the atom would be too large. Operands are in canonical order.
const DimAtom* FindOrAddSymbol(int64_t symbol);
const DimAtom* FindOrAddAtom(DimAtom::Kind kind, std::vector<DimExpr> operands);

// Of null: unknown.
DimExpr ExprOf(const DimAtom* atom);
DimExpr SubstituteAtom(const DimAtom& atom, std::span<const DimBinding> sizes);
// Bounds of the values of an expression, as far as its terms alone tell.
std::pair<std::optional<int64_t>, std::optional<int64_t>> BoundsOf(const DimExpr& e);

// Rounded down; c > 0.
inline int64_t FloorQuotient(int64_t a, int64_t c) { return a / c - (a % c < 0); }

}  // namespace weft::ir

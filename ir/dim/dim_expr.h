// Dimensions that follow from others: sums, products, floor divisions, minima and maxima of symbols
// and integers, in one canonical form. A dimension that is such an expression is a symbol whose name
// is the expression's text, so equal expressions are the same dimension:
//
//   const DimExpr n = DimExpr::OfDim(SymbolicDim("N"));
//   (FloorDiv(n - 1, 2) + 1).ToDim() == SymbolicDim("(N + 1)//2")
//
// Symbols stand for sizes: all that is said here holds for all values of symbols from 0 on for which
// the expression has a value (a divisor that is not positive has none). The canonical form decides
// equality for polynomials; two expressions with divisions, minima or maxima may be equal without
// being the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace weft::ir {

struct DimAtom;  // a symbol, a floor division, a minimum or a maximum

// A symbol and what stands for it.
struct DimBinding {
  int64_t symbol = 0;
  int64_t size = 0;
};

// An integer, not only a size. Unknown when nothing is known, when a number would overflow, or when
// the expression would be larger than kMaxWeight: what is made of an unknown one is unknown.
class DimExpr {
 public:
  struct Term {
    int64_t factor = 0;
    std::vector<const DimAtom*> atoms;  // multiplied; none: the constant
    friend bool operator==(const Term&, const Term&) = default;
  };

  DimExpr() = default;                          // unknown
  DimExpr(int64_t number);                      // NOLINT: numbers are expressions
  static DimExpr OfDim(int64_t dim);            // of a size, a symbol or kUnknownDim
  static DimExpr Sum(std::vector<Term> terms);  // in any order

  bool known() const { return known_; }
  std::optional<int64_t> number() const;
  // The dimension of this size: kUnknownDim when unknown, and for a negative number.
  int64_t ToDim() const;
  // E.g. 2*N + 1, N*(S//2), max(N, 1) - 1; ? when unknown.
  std::string ToString() const;
  // Highest degree first.
  std::span<const Term> terms() const { return terms_; }
  int weight() const { return weight_; }

  // Whether it is provably at least `least` for all sizes; false when unknown.
  bool IsAtLeast(int64_t least) const;
  // With sizes in place of symbols.
  DimExpr Substitute(std::span<const DimBinding> sizes) const;
  // Adds the symbols in it that are not yet in the list.
  void CollectSymbols(std::vector<int64_t>* symbols) const;

  // The same expression; two unknown ones are the same too, see SameDim.
  friend bool operator==(const DimExpr&, const DimExpr&) = default;

  static constexpr int kMaxWeight = 64;      // terms and atoms, those in atoms too
  static constexpr size_t kMaxText = 1024;   // of a dimension
  static constexpr size_t kMaxOperands = 8;  // of a minimum or maximum

 private:
  bool known_ = false;
  int weight_ = 0;
  std::vector<Term> terms_;
};

DimExpr operator+(const DimExpr& a, const DimExpr& b);
DimExpr operator-(const DimExpr& a, const DimExpr& b);
DimExpr operator*(const DimExpr& a, const DimExpr& b);
// The largest integer that is not above a / b; a value only where b > 0.
DimExpr FloorDiv(const DimExpr& a, const DimExpr& b);
DimExpr CeilDiv(const DimExpr& a, const DimExpr& b);
// Of at least one.
DimExpr Min(std::span<const DimExpr> values);
DimExpr Max(std::span<const DimExpr> values);
inline DimExpr Min(const DimExpr& a, const DimExpr& b) { return Min(std::vector<DimExpr>{a, b}); }
inline DimExpr Max(const DimExpr& a, const DimExpr& b) { return Max(std::vector<DimExpr>{a, b}); }

// A dimension with sizes in place of symbols, or of the whole dimension; kUnknownDim where that is
// negative or has no value. Numbers and symbols that are not given stay.
int64_t SubstituteDim(int64_t dim, std::span<const DimBinding> sizes);
// Whether a symbolic dimension is an expression, and no plain symbol.
bool IsExpressionDim(int64_t dim);

// What the text says, e.g. "2*N + 1", "s0//2", "max(N, 1)", "floor(height/2 - 1/2) + 1", 2*'a name'.
// Nothing for what is no expression, or is one symbol or one number. A minus between two operands has
// spaces around it: seq-len is a name.
std::optional<DimExpr> ParseDimExpr(std::string_view text);

}  // namespace weft::ir

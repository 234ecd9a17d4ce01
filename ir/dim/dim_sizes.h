// What sizes symbols have when the sizes of some dimensions are known: those that are symbols
// themselves, and those of expressions that are linear in the one symbol left.
//
//   DimSizes sizes;
//   std::string error;
//   sizes.Add(SymbolicDim("2*n + 1"), 5, &error);  // n is 2
//   sizes.Add(SymbolicDim("n"), 3, &error);        // false: "n is 2, not 3"
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/dim/dim_expr.h"

namespace weft::ir {

class DimSizes {
 public:
  // `dim` is `size`. False where that contradicts what is known: *error says what does; nothing may
  // be added after that. An expression with more than one symbol left, or that is not linear in it, is
  // looked at again as more becomes known.
  bool Add(int64_t dim, int64_t size, std::string* error);

  // The symbols whose sizes are known, and the expressions whose sizes were added.
  const std::vector<DimBinding>& bindings() const { return bindings_; }
  // The size of a dimension, or what it is when nothing more is known: see SubstituteDim.
  int64_t SizeOf(int64_t dim) const;
  // "n is 2, m is 3"; only symbols.
  std::string ToString() const;

 private:
  bool Bind(int64_t dim, int64_t size, std::string* error);
  bool Settle(const DimBinding& equation, std::string* error);
  std::vector<DimBinding> KnownIn(const DimExpr& e) const;

  std::vector<DimBinding> bindings_;
  size_t followed_ = 0;                         // of them, those whose consequences are known
  std::unordered_map<int64_t, int64_t> sizes_;  // the same, by dimension
  std::unordered_map<int64_t, std::vector<DimBinding>> readers_;  // expressions by symbols in them
};

}  // namespace weft::ir

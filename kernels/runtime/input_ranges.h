// Which integers a program can take as an input: what it uses as an index must be below the size that
// is indexed. For random inputs; followed through casts, reshapes and the addition or multiplication
// of constants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/dim/dim_expr.h"
#include "ir/program.h"

namespace weft::kernels {

// Both ends belong to it.
struct ValueRange {
  int64_t low = 0, high = 0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// A range whose ends may follow from the sizes of inputs.
struct ImpliedRange {
  ir::DimExpr low, high;
  // The range for these sizes of symbols; nothing when they do not tell, or it is empty.
  std::optional<ValueRange> For(std::span<const ir::DimBinding> sizes) const;
};

// Of an input of integers, which all its uses allow; nothing when none of them says anything.
std::optional<ImpliedRange> RangeOfInput(ir::Value input);

}  // namespace weft::kernels

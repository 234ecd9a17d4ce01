// For rules that drop an operand which changes no value, as in x * 1 => x: what must hold of the
// rest.
#pragma once

#include <algorithm>

#include "drr/rule/match_context.h"

namespace weft::passes {

// Whether `out` has the type of `x` for sure, so that one can stand for the other: the operand that
// is dropped was broadcast into x, and not x to it. Symbols are known sizes here; an unknown one
// may be another in x and in out.
inline bool SurelySameType(const drr::BoundTensor& x, const drr::BoundTensor& out) {
  if (!x.has_rank() || x.type() != out.type()) return false;
  const auto dims = x.type().dims();
  return std::find(dims.begin(), dims.end(), ir::kUnknownDim) == dims.end();
}

}  // namespace weft::passes

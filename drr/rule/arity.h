// How many operands or results an op may have.
#pragma once

#include <algorithm>

#include "ir/op_def.h"

namespace weft::drr {

// Of the operands or results of an ir::OpInfo: whether there may be any number of them.
template <class Defs>
bool IsVariadic(const Defs& defs) {
  return std::any_of(defs.begin(), defs.end(),
                     [](const auto& d) { return d.arity == ir::Arity::kVariadic; });
}

}  // namespace weft::drr

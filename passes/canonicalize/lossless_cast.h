// When a chain of element type conversions is a shorter one.
#pragma once

#include "ir/type.h"

namespace weft::passes {

// Whether every value of `from` is also a value of `to`.
bool IsLosslessCast(ir::DataType from, ir::DataType to);

// Whether from -> through -> to gives, for every value, exactly what from -> to gives.
bool CastsCompose(ir::DataType from, ir::DataType through, ir::DataType to);

}  // namespace weft::passes

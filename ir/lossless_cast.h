// When a chain of element type conversions is a shorter one.
#pragma once

#include "ir/type.h"

namespace weft::ir {

// Whether every value of `from` is also a value of `to`.
bool IsLosslessCast(DataType from, DataType to);

// Whether from -> through -> to gives, for every value, exactly what from -> to gives.
bool CastsCompose(DataType from, DataType through, DataType to);

}  // namespace weft::ir

// The type of a value that comes from one place or another.
#pragma once

#include "ir/context.h"

namespace weft::ir {

// What is true of values of both types; null when that is nothing, as for an optional and its element,
// and for opaque types, whose text may differ where they do not.
Type EitherType(IrContext* context, Type a, Type b);

}  // namespace weft::ir

// Attributes of one kind as another: what text and computed attributes need.
#pragma once

#include "ir/attribute.h"
#include "ir/context.h"

namespace weft::drr {

// The attribute as `kind`, or null when it is null or that would lose something. Integers become a
// dense constant of rank 1.
ir::Attribute ConvertAttr(ir::IrContext& context, ir::Attribute from, ir::AttrKind kind);

}  // namespace weft::drr

// Literals as attribute values.
#pragma once

#include "drr/text/literal.h"
#include "ir/op_def.h"

namespace weft::drr::text {

// As the field wants it: 0 and 1 as booleans, integers as numbers, names as enumerators and element
// types. False when *mistakes tells why not.
bool AttributeOf(const Literal& literal, const ir::FieldDef& field, ir::IrContext& context,
                 Diagnostics* mistakes, ir::Attribute* attribute);

}  // namespace weft::drr::text

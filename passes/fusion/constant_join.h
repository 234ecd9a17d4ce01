// Constants put together to one.
#pragma once

#include <span>

#include "ir/attribute.h"
#include "ir/type.h"

namespace weft::passes {

// Joined along `axis`: the parts have contents, and types that differ in that dimension alone.
ir::Attribute JoinConstants(std::span<const ir::Attribute> parts, size_t axis);

// The contents of all parts in a row, as a constant with `dims`, which must hold just as many
// elements. The parts have contents, and one element type.
ir::Attribute StackConstants(std::span<const ir::Attribute> parts, std::span<const int64_t> dims);

}  // namespace weft::passes

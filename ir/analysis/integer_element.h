// Integers of dense contents as they are, also those of 64 bits that no double is.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/attribute.h"

namespace weft::ir {

// Element i of dense contents that are in memory; nothing of other types than integers, and of a
// u64 that no i64 is.
std::optional<int64_t> IntegerElement(Attribute dense, int64_t i);

}  // namespace weft::ir

// Where a Slice begins and ends, for passes that put others in the place of slices.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/operation.h"

namespace weft::passes {

// The elements [start, end) of one axis, as the Slice counts them: what is negative from the end.
struct SliceRange {
  int64_t axis = 0, start = 0, end = 0;
};
// None where the slice has several axes, a step other than 1, or operands that are not constant.
std::optional<SliceRange> RangeOf(ir::Operation slice);

}  // namespace weft::passes

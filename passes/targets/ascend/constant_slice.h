// A box cut out of the contents of a constant.
#pragma once

#include <span>

#include "ir/attribute.h"
#include "ir/type.h"

namespace weft::passes {

// Elements begins[i] .. begins[i] + sizes[i] - 1 of each dimension i, which must exist. `dense` has
// contents.
ir::Attribute SliceConstant(ir::Attribute dense, std::span<const int64_t> begins,
                            std::span<const int64_t> sizes);

}  // namespace weft::passes

// Heads of attention in reference bodies.
#pragma once

#include <optional>

#include "ir/builder.h"

namespace weft::ir::ops {

// [B, S, heads * depth] as [B, heads, S, depth]; what has four dimensions stays.
Value SplitHeads(Builder& b, Value x, std::optional<int64_t> heads);
// The reverse.
Value MergeHeads(Builder& b, Value x);

}  // namespace weft::ir::ops
